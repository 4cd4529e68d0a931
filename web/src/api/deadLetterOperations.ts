// Bulk retry and discard, and the count of what they would act on.
import { request } from "./request.ts";
import type { Operation } from "./types.ts";

export interface OperationCount {
  count: number;
  more: boolean; // There are at least `count`.
}

export interface RetryBatch {
  filter: {
    webhook_ids?: string[];
    event_types?: string[];
    failure_categories?: string[];
    classification?: string;
    tenant_id?: string;
    from?: string;
    to?: string;
  };
  rate_limit?: { requests_per_second: number };
  priority?: "high" | "normal" | "low";
  start_at?: string;
}

export const countRetryBatch = (batch: RetryBatch) =>
  request<OperationCount>("POST", "/v1/dlq/retry-batch", {
    body: { filter: batch.filter, dry_run: true },
  });

export const startRetryBatch = (batch: RetryBatch) =>
  request<Operation>("POST", "/v1/dlq/retry-batch", { body: batch });

type DiscardFilter = Record<string, string | undefined>;

/** Without a filter, everything is meant, which has to be said. */
const discardQuery = (filter: DiscardFilter) =>
  Object.values(filter).some((value) => value !== undefined) ? filter : { all: "true" };

export const countDiscard = (filter: DiscardFilter) =>
  request<OperationCount>("DELETE", "/v1/dlq", {
    query: { ...discardQuery(filter), dry_run: "true" },
  });

export const startDiscard = (filter: DiscardFilter) =>
  request<Operation>("DELETE", "/v1/dlq", { query: discardQuery(filter) });
