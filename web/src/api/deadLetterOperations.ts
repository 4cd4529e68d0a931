// Bulk retry and discard, and the count of what they would act on.
import { api, body } from "./client.ts";
import type { operations } from "#contract";
import type { Operation, OperationCount } from "./types.ts";

type RetryBody = NonNullable<operations["retryDeadLetters"]["requestBody"]>;
export type RetryBatch = RetryBody["content"]["application/json"];
export type BatchFilter = NonNullable<RetryBatch["filter"]>;

const retryBatch = (batch: RetryBatch) => body(api.POST("/v1/dlq/retry-batch", { body: batch }));

export const countRetryBatch = (batch: RetryBatch) =>
  retryBatch({ filter: batch.filter, dry_run: true }) as Promise<OperationCount>;

export const startRetryBatch = (batch: RetryBatch) => retryBatch(batch) as Promise<Operation>;

export type DiscardFilter = NonNullable<operations["discardDeadLetters"]["parameters"]["query"]>;

/** Without a filter, everything is meant, which has to be said. */
const discard = (filter: DiscardFilter, dry_run?: true) => {
  const given = Object.values(filter) as unknown[];
  const all = given.every((value) => value === undefined) || undefined;
  return body(api.DELETE("/v1/dlq", { params: { query: { ...filter, all, dry_run } } }));
};

export const countDiscard = (filter: DiscardFilter) =>
  discard(filter, true) as Promise<OperationCount>;

export const startDiscard = (filter: DiscardFilter) => discard(filter) as Promise<Operation>;
