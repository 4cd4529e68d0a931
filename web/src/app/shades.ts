// Ten shades of an operator's colour, which can be any: text in them stays readable. Pure.
import type { MantineColorsTuple } from "@mantine/core";

type Rgb = [number, number, number];

const white: Rgb = [255, 255, 255];
const black: Rgb = [0, 0, 0];
const darkPage: Rgb = [36, 36, 36];

function parse(color: string): Rgb | null {
  const digits = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(color);
  if (!digits) return null;
  return [digits[1], digits[2], digits[3]].map((part) => parseInt(part ?? "0", 16)) as Rgb;
}

const write = (color: Rgb) =>
  `#${color.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;

const mix = (color: Rgb, other: Rgb, share: number) =>
  color.map((part, index) => part * (1 - share) + (other[index] ?? 0) * share) as Rgb;

/** The relative luminance of WCAG. */
function luminance(color: Rgb): number {
  const [red, green, blue] = color.map((part) => {
    const value = part / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(first: Rgb, second: Rgb): number {
  const [light, dark] = [luminance(first), luminance(second)].sort((a, b) => b - a);
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05);
}

export const contrastOf = (first: string, second: string) =>
  contrast(parse(first) ?? white, parse(second) ?? black);

/** Moves a colour towards another until it has the wanted contrast on a background. */
function readable(color: Rgb, towards: Rgb, background: Rgb, wanted: number): Rgb {
  for (let share = 0; share < 1; share += 0.02) {
    const mixed = mix(color, towards, share);
    if (contrast(mixed, background) >= wanted) return mixed;
  }
  return towards;
}

const wantedContrast = 6; // More than 4.5, because some backgrounds are tinted.

/**
 * The shades of the theme, or null if `color` is not `#rrggbb`. Shades 7 to 9 are for buttons and
 * for text on light pages, shades 0 to 3 for text on dark ones.
 */
export function shadesOf(color: string): MantineColorsTuple | null {
  const brand = parse(color);
  if (!brand) return null;
  const dark = readable(brand, black, white, wantedContrast);
  const light = readable(brand, white, darkPage, wantedContrast);
  const shades: Rgb[] = [
    mix(light, white, 0.85),
    mix(light, white, 0.65),
    mix(light, white, 0.35),
    light,
    mix(light, dark, 0.35),
    mix(light, dark, 0.6),
    mix(light, dark, 0.8),
    dark,
    mix(dark, black, 0.15),
    mix(dark, black, 0.3),
  ];
  return shades.map(write) as unknown as MantineColorsTuple;
}
