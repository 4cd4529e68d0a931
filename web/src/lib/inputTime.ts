// Times of `<input type="datetime-local">`, which has no zone of its own. Pure.
import type { TimeZoneMode } from "./format.ts";

const minuteMs = 60_000;
const lengths = { minutes: 16, seconds: 19 };

/** `2026-01-31T14:05` in the zone that the visitor has chosen; empty if there is no time. */
export function toInput(
  at: string | number | undefined,
  zone: TimeZoneMode,
  precision: keyof typeof lengths = "minutes",
): string {
  const time = new Date(at ?? "");
  if (Number.isNaN(time.getTime())) return "";
  const shift = zone === "utc" ? 0 : time.getTimezoneOffset() * minuteMs;
  return new Date(time.getTime() - shift).toISOString().slice(0, lengths[precision]);
}

/** RFC 3339 in UTC, or null while the text is not a time. */
export function fromInput(text: string, zone: TimeZoneMode): string | null {
  const time = new Date(zone === "utc" ? `${text}Z` : text);
  return text === "" || Number.isNaN(time.getTime()) ? null : time.toISOString();
}
