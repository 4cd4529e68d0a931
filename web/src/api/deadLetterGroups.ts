import { request } from "./request.ts";

export type GroupBy = "webhook" | "failure_category" | "event_type" | "age" | "classification";

export interface DeadLetterGroup {
  key: string | null; // Null if it is unknown.
  webhook_name?: string | null;
  webhook_url?: string | null;
  count: number;
  oldest_at: string;
  newest_at: string;
}

export interface DeadLetterGroups {
  data: DeadLetterGroup[];
  groups: number; // Including those beyond `limit`.
  total: number;
  more: boolean; // The numbers are lower bounds.
}

/** Counts dead letters in groups, largest first. `filters` are those of GET /v1/dlq. */
export const readDeadLetterGroups = (
  by: GroupBy,
  filters: Record<string, string | undefined>,
  limit: number,
) => request<DeadLetterGroups>("GET", "/v1/dlq/groups", { query: { ...filters, by, limit } });
