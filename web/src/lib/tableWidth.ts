// How wide a table with a fixed layout has to be. Pure.

const remPixels = 16;
const columnMin = 112; // Of a column that takes what the others leave.

/**
 * The least width in pixels that leaves every column room. Widths are in rem or per cent, or
 * undefined for columns that share the rest.
 */
export function tableWidth(widths: (string | undefined)[]): number {
  let pixels = 0;
  let percent = 0;
  let least = 0;
  for (const width of widths) {
    const value = Number.parseFloat(width ?? "");
    if (width?.endsWith("%")) {
      percent += value;
      least = Math.max(least, (columnMin * 100) / value);
    } else {
      pixels += width === undefined ? columnMin : value * remPixels;
    }
  }
  return Math.ceil(Math.max(least, (pixels * 100) / (100 - Math.min(percent, 90))));
}
