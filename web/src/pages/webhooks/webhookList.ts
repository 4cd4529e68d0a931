// Reads the pages of the list of webhooks. The API filters them. It sorts only by success rate, in
// its statistics; those pages are filtered here.
import { api, body } from "~/api/client.ts";
import { isNotFound } from "~/api/problem.ts";
import type { Page, Stats, Webhook } from "~/api/types.ts";
import { patternMatches } from "~/lib/eventPattern.ts";
import type { Filters } from "~/ui/filters.ts";

export const filterNames = [
  "q",
  "status",
  "circuit",
  "event_type",
  "tenant_id",
  "sort",
  "cursor",
] as const;
export type ListFilters = Filters<(typeof filterNames)[number]>;

/** The statistics of one webhook over the last 24 hours, of GET /v1/stats. */
export type Ranking = Stats["webhooks"]["data"][number];

export interface Row {
  hook: Webhook;
  ranking: Ranking | null; // Only in a list sorted by it.
}

const pageSize = 50;

type Status = "active" | "paused" | "disabled";
type CircuitState = "closed" | "open" | "half_open";

/** The status by which the API filters. */
const statusOf = (hook: Webhook): Status =>
  !hook.active ? "disabled" : hook.paused ? "paused" : "active";

/** True if the webhook meets every filter. Pure. */
export function matchesFilters(hook: Webhook, filters: ListFilters): boolean {
  const { q, status, circuit, event_type, tenant_id } = filters;
  const words = [hook.url, hook.name, hook.description, hook.id].map((each) =>
    (each ?? "").toLowerCase(),
  );
  return (
    (!q || words.some((each) => each.includes(q.toLowerCase()))) &&
    (!status || statusOf(hook) === status) &&
    (!circuit || hook.circuit?.state === circuit) &&
    (!event_type || hook.events.some((pattern) => patternMatches(pattern, event_type))) &&
    (!tenant_id || hook.tenant_id === tenant_id)
  );
}

/** Null if the webhook has been deleted. */
async function readRanked(ranking: Ranking): Promise<Row | null> {
  if (ranking.url === null) return null;
  const path = { id: ranking.webhook_id };
  try {
    return { hook: await body(api.GET("/v1/webhooks/{id}", { params: { path } })), ranking };
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

/** The webhooks with deliveries in the last 24 hours, the lowest success rate first. */
async function readWorst(filters: ListFilters): Promise<Page<Row>> {
  const { cursor, tenant_id } = filters;
  const query = {
    period: "24h",
    bucket: "1d",
    sort: "worst",
    limit: pageSize,
    cursor,
    tenant_id,
  } as const;
  const stats = await body(api.GET("/v1/stats", { params: { query } }));
  const { data, next_cursor } = stats.webhooks;
  const rows = await Promise.all(data.map(readRanked));
  return {
    data: rows.filter((row) => row !== null && matchesFilters(row.hook, filters)),
    next_cursor,
  } as Page<Row>;
}

export async function readWebhooks(filters: ListFilters): Promise<Page<Row>> {
  const { sort, status, circuit, ...rest } = filters;
  if (sort === "worst") return readWorst(filters);
  const query = {
    ...rest,
    status: status as Status | undefined,
    circuit: circuit as CircuitState | undefined,
    limit: pageSize,
  };
  const page = await body(api.GET("/v1/webhooks", { params: { query } }));
  return {
    data: page.data.map((hook) => ({ hook, ranking: null })),
    next_cursor: page.next_cursor,
  };
}
