import type { Setting } from "~/api/settings.ts";

/** A value as a configuration file would have it. Pure. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return "not set";
  if (value === "") return "empty";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The settings whose name or value has the words, from the given origin. Pure. */
export function filterSettings(
  settings: Setting[],
  { q, origin }: { q?: string; origin?: string },
): Setting[] {
  const words = (q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  return settings.filter((setting) => {
    const text = `${setting.name} ${valueText(setting.value)}`.toLowerCase();
    const fits =
      !origin || (origin === "changed" ? setting.origin !== "default" : setting.origin === origin);
    return fits && words.every((word) => text.includes(word));
  });
}
