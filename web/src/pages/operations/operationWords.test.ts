import { expect, test } from "vitest";

import type { Operation } from "~/api/types.ts";

import { filterWords, outcomesOf, outcomeWords, paceWords, progressOf } from "./operationWords.ts";

const operation = {
  kind: "retry_batch",
  status: "running",
  total: 200,
  done: 90,
  skipped: 10,
  failed: 0,
  requeued: 90,
  succeeded: 60,
  dead_again: 5,
  cancelled: 0,
  waiting: 25,
  requeue_finished_at: null,
} as Operation;

test("progress is of the requeueing first, then of the outcome", () => {
  expect(progressOf(operation)).toEqual({ words: "100 of 200 processed", share: 0.5 });
  const requeued = { ...operation, requeue_finished_at: "2026-01-31T12:00:00.000Z" };
  expect(progressOf(requeued)).toEqual({
    words: "65 of 90 have an outcome",
    share: 65 / 90,
  });
});

test("progress without a total, and of nothing", () => {
  expect(progressOf({ ...operation, total: null }).share).toBeNull();
  expect(progressOf({ ...operation, total: 0, done: 0, skipped: 0 }).share).toBe(1);
  expect(progressOf({ ...operation, status: "scheduled" }).share).toBe(0);
});

test("a discard has no outcome of deliveries", () => {
  const names = outcomesOf({ ...operation, kind: "discard" }).map(({ name }) => name);
  expect(names).toEqual(["Discarded", "Skipped", "Webhook deleted"]);
});

test("the outcome in one line", () => {
  expect(outcomeWords(operation)).toBe("90 requeued, 60 succeeded, 5 dead again, 25 waiting");
  expect(outcomeWords({ ...operation, kind: "discard" })).toBe("90 discarded");
});

test("filters and pace in words", () => {
  expect(filterWords({ status: ["dead_letter"] })).toBe("Everything");
  expect(filterWords({ event_types: ["a.b"], failure_categories: ["server_error"] })).toBe(
    "a.b, server error",
  );
  const pace = { rate_limit: { requests_per_second: 50 }, repeat_every_seconds: 3_600, runs: 2 };
  expect(paceWords(pace)).toBe("50 per second, every 1 h, run 2");
});
