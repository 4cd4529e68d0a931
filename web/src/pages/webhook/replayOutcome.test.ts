import { expect, test } from "vitest";

import { isOver, progressOf } from "./replayOutcome.ts";

const counts = { done: 3, skipped: 1, failed: 1 };

test("progress is the share of all items, and full at the end", () => {
  expect(progressOf({ ...counts, status: "running", total: null })).toBe(0);
  expect(progressOf({ ...counts, status: "running", total: 10 })).toBe(50);
  expect(progressOf({ ...counts, status: "running", total: 4 })).toBe(100);
  expect(progressOf({ ...counts, status: "cancelled", total: 10 })).toBe(100);
});

test("a scheduled operation is not over", () => {
  expect(isOver({ status: "scheduled" })).toBe(false);
  expect(isOver({ status: "failed" })).toBe(true);
  expect(isOver(undefined)).toBe(false);
});
