// Numbers, durations and times as people read them. Pure.

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const plain = new Intl.NumberFormat("en");

export const formatCount = (value: number) => plain.format(value);
export const formatCompact = (value: number) =>
  Math.abs(value) < 10_000 ? plain.format(value) : compact.format(value);

/** A share of 1 as a percentage. Never rounds a failure away: 0.99996 is 99.99 %, not 100 %. */
export function formatShare(share: number | null | undefined): string {
  if (share === null || share === undefined) return "–";
  const percent = Math.floor(share * 10_000) / 100;
  return `${percent === 100 || percent === 0 ? percent : percent.toFixed(2).replace(/\.?0+$/, "")} %`;
}

const units: [string, number][] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
];

/** Two units at most: `1 h 30 min`, `45 s`, `12 ms`. */
export function formatDuration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return "–";
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(Math.floor(ms / 100) / 10).toString()} s`;
  let rest = ms;
  const parts: string[] = [];
  for (const [name, size] of units) {
    const count = Math.floor(rest / size);
    if (count > 0) parts.push(`${count} ${name}`);
    else if (parts.length > 0) break;
    rest -= count * size;
    if (parts.length === 2) break;
  }
  return parts.join(" ");
}

/** `5 min ago`, `in 30 s`, `now`. */
export function formatRelative(at: string, now: number): string {
  const difference = Date.parse(at) - now;
  const size = Math.abs(difference);
  if (size < 1_000) return "now";
  const unit = units.find(([, length]) => size >= length) ?? units[3];
  const text = `${Math.floor(size / (unit?.[1] ?? 1_000))} ${unit?.[0] ?? "s"}`;
  return difference < 0 ? `${text} ago` : `in ${text}`;
}

export type TimeZoneMode = "local" | "utc";

const pad = (value: number, length = 2) => value.toString().padStart(length, "0");

/** `2026-01-31 14:05:09`, with milliseconds if asked for. */
export function formatTime(at: string, zone: TimeZoneMode, milliseconds = false): string {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return at;
  const utc = zone === "utc";
  const date = [
    utc ? time.getUTCFullYear() : time.getFullYear(),
    pad((utc ? time.getUTCMonth() : time.getMonth()) + 1),
    pad(utc ? time.getUTCDate() : time.getDate()),
  ].join("-");
  const clock = [
    pad(utc ? time.getUTCHours() : time.getHours()),
    pad(utc ? time.getUTCMinutes() : time.getMinutes()),
    pad(utc ? time.getUTCSeconds() : time.getSeconds()),
  ].join(":");
  const fraction = milliseconds ? `.${pad(time.getUTCMilliseconds(), 3)}` : "";
  return `${date} ${clock}${fraction}${utc ? " UTC" : ""}`;
}

/** `dead_letter` as `dead letter`. */
export const formatWord = (word: string) => word.replaceAll("_", " ");
