// From the fields of the form to the request. Pure.
import type { ReplayRequest } from "~/api/replay.ts";
import type { TimeZoneMode } from "~/lib/format.ts";
import { fromInput, toInput } from "~/lib/inputTime.ts";

export const replayStates = ["dead_letter", "cancelled", "succeeded"] as const;
export type ReplayState = (typeof replayStates)[number];

export interface ReplayForm {
  since: string; // As in the field.
  until: string;
  states: string[];
  types: string[];
  rate: number | null;
}

const dayMs = 86_400_000;

export function firstForm(since: string | undefined, now: number, zone: TimeZoneMode): ReplayForm {
  const given = Date.parse(since ?? "");
  return {
    since: toInput(Number.isNaN(given) ? now - dayMs : given, zone, "seconds"),
    until: "",
    states: ["dead_letter", "cancelled"],
    types: [],
    rate: null,
  };
}

/** The request, or what is wrong with the form. */
export function toRequest(form: ReplayForm, zone: TimeZoneMode): ReplayRequest | string {
  const since = fromInput(form.since, zone);
  const until = fromInput(form.until, zone);
  if (!since) return "Enter the time from which events are replayed.";
  if (form.until && !until) return "The end is not a valid time.";
  if (until && until <= since) return "The end must be after the start.";
  if (form.states.length === 0) return "Choose at least one state.";
  return {
    since,
    ...(until ? { until } : {}),
    status: form.states as ReplayState[],
    ...(form.types.length > 0 ? { event_types: form.types } : {}),
    ...(form.rate ? { rate_limit: { requests_per_second: form.rate } } : {}),
  };
}
