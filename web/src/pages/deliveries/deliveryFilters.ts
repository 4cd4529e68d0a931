// The filters of the list of deliveries, as the address bar has them. Pure.
import type { DeliveryQuery } from "~/api/types.ts";
import { rangeTimes } from "~/lib/timeRange.ts";
import type { Filters } from "~/ui/filters.ts";

export const filterNames = [
  "status",
  "webhook_id",
  "event_type",
  "failure_category",
  "tenant_id",
  "event_id",
  "resource_id",
  "range",
  "from",
  "to",
  "live",
  "cursor",
] as const;

export type DeliveryFilters = Filters<(typeof filterNames)[number]>;

export const statusChoices = [
  { value: "pending", label: "Pending" },
  { value: "retrying", label: "Retrying" },
  { value: "succeeded", label: "Succeeded" },
  { value: "dead_letter", label: "Dead letter" },
  { value: "cancelled", label: "Cancelled" },
  { value: "circuit_blocked", label: "Held by a circuit" },
];

export const failureChoices = [
  "timeout",
  "server_error",
  "client_error",
  "network",
  "dns",
  "ssl",
  "rate_limit",
  "payload_too_large",
  "redirect",
  "blocked_address",
  "protocol",
];

/** The query for the API. `live` is of this page alone. */
export function deliveryQuery(filters: DeliveryFilters, now: number): DeliveryQuery {
  const { range, from, to, live, cursor, ...rest } = filters;
  void live;
  void cursor;
  return { ...rest, ...rangeTimes({ range, from, to }, now) };
}

/** The filters that GET /v1/stream knows too. A row may also leave or enter the list. */
export function streamQuery(filters: DeliveryFilters): Record<string, string> {
  const query: Record<string, string> = {};
  for (const name of ["webhook_id", "event_type", "tenant_id"] as const) {
    const value = filters[name];
    if (value) query[name] = value;
  }
  return query;
}

/** Whether anything narrows the list. */
export function isNarrowed(filters: DeliveryFilters): boolean {
  return Object.keys(filters).some((name) => name !== "live" && name !== "cursor");
}
