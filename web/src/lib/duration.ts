// Durations as people type them: `30 s`, `1 h 30 min`, `500 ms`, or milliseconds. Pure.

const units: Record<string, number> = {
  ms: 1,
  s: 1_000,
  sec: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Milliseconds, or null if the text is not a duration. A plain number is milliseconds. */
export function parseDuration(text: string): number | null {
  const words = text.trim().toLowerCase();
  if (/^\d+$/.test(words)) return Number(words);
  const parts = [...words.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)\s*/gy)];
  if (parts.length === 0 || parts.map((part) => part[0]).join("") !== words) return null;
  let total = 0;
  for (const [, count, unit] of parts) {
    const size = units[unit ?? ""];
    if (size === undefined) return null;
    total += Number(count) * size;
  }
  return Math.round(total);
}

const names: [string, number][] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
  ["ms", 1],
];

/** Nothing is left out: `parseDuration` gives the same number back. */
export function writeDuration(ms: number): string {
  const parts: string[] = [];
  let rest = ms;
  for (const [name, size] of names) {
    const count = Math.floor(rest / size);
    if (count > 0) parts.push(`${count} ${name}`);
    rest -= count * size;
  }
  return parts.join(" ") || "0 ms";
}
