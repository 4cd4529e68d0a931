import { parseDuration } from "~/lib/duration.ts";

// The bounds of the API.
const secondsMin = 60;
const secondsMax = 2_592_000;

/** How often a bulk retry is repeated, in seconds. Null: not a duration that the API takes. Pure. */
export function repeatSeconds(text: string): number | null {
  const ms = parseDuration(text);
  const seconds = ms === null ? 0 : Math.round(ms / 1_000);
  return seconds >= secondsMin && seconds <= secondsMax ? seconds : null;
}
