// Ranges of time as filters: a quick range such as `24h` in `range`, or RFC 3339 times in `from`
// and `to`. Pure.
import type { TimeZoneMode } from "./format.ts";

export interface RangeFilter {
  range?: string;
  from?: string;
  to?: string;
}

export const quickRanges = [
  { value: "15m", label: "Last 15 min", ms: 900_000 },
  { value: "1h", label: "Last hour", ms: 3_600_000 },
  { value: "24h", label: "Last 24 h", ms: 86_400_000 },
  { value: "7d", label: "Last 7 days", ms: 604_800_000 },
  { value: "30d", label: "Last 30 days", ms: 2_592_000_000 },
];

/** The times for the API. A quick range starts at a whole minute, so that pages fit together. */
export function rangeTimes(filter: RangeFilter, now: number): { from?: string; to?: string } {
  const quick = quickRanges.find(({ value }) => value === filter.range);
  if (quick) {
    const start = Math.floor((now - quick.ms) / 60_000) * 60_000;
    return { from: new Date(start).toISOString() };
  }
  return { from: filter.from, to: filter.to };
}

const pad = (value: number, length = 2) => value.toString().padStart(length, "0");

/** A time for `<input type="datetime-local">`; empty if there is none. */
export function toInput(at: string | undefined, zone: TimeZoneMode): string {
  const time = new Date(at ?? "");
  if (Number.isNaN(time.getTime())) return "";
  if (zone === "utc") return time.toISOString().slice(0, 16);
  const date = `${pad(time.getFullYear(), 4)}-${pad(time.getMonth() + 1)}-${pad(time.getDate())}`;
  return `${date}T${pad(time.getHours())}:${pad(time.getMinutes())}`;
}

/** The time of such an input, or null while it is incomplete. */
export function fromInput(text: string, zone: TimeZoneMode): string | null {
  const time = new Date(zone === "utc" ? `${text}Z` : text);
  return text === "" || Number.isNaN(time.getTime()) ? null : time.toISOString();
}
