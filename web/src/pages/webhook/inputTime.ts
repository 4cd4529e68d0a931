// Times of `<input type="datetime-local">`, which has no zone of its own. Pure.
import type { TimeZoneMode } from "~/lib/format.ts";

const minuteMs = 60_000;

/** `2026-01-31T14:05:09` in the zone that the visitor has chosen. */
export function toInputTime(ms: number, zone: TimeZoneMode): string {
  const shift = zone === "utc" ? 0 : new Date(ms).getTimezoneOffset() * minuteMs;
  return new Date(ms - shift).toISOString().slice(0, 19);
}

/** RFC 3339 in UTC, or null if the text is not a time. */
export function fromInputTime(text: string, zone: TimeZoneMode): string | null {
  const time = new Date(zone === "utc" ? `${text}Z` : text);
  return text && !Number.isNaN(time.getTime()) ? time.toISOString() : null;
}
