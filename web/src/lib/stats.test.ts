import { describe, expect, test } from "vitest";

import type { Stats, Tally } from "~/api/types.ts";

import {
  bucketOf,
  eventChart,
  failureShares,
  formatRate,
  latencyChart,
  outcomeChart,
  parseRange,
} from "./stats.ts";

const tally = (fields: Partial<Tally>): Tally => ({
  published: 0,
  deliveries: 0,
  attempts: 0,
  succeeded: 0,
  failed: 0,
  retries: 0,
  dead_letters: 0,
  deliveries_succeeded: 0,
  deliveries_failed: 0,
  success_rate: null,
  delivery_success_rate: null,
  failures: {},
  duration_ms: null,
  ...fields,
});

const duration_ms = { average: 20, p50: 12, p95: 40, p99: 1_500 };
const stats: Pick<Stats, "buckets" | "total"> = {
  total: tally({ published: 2, attempts: 3, succeeded: 2, failed: 1, success_rate: 2 / 3 }),
  buckets: [
    { start: "2026-01-31T12:00:00.000Z", ...tally({ published: 2, succeeded: 2, failed: 1 }) },
    { start: "2026-01-31T13:00:00.000Z", ...tally({ duration_ms }) },
  ],
};

test("an unknown range is the default", () => {
  expect(parseRange("7d")).toBe("7d");
  expect(parseRange("1y")).toBe("24h");
  expect(parseRange(undefined)).toBe("24h");
  expect(bucketOf("1h")).toBe("5m");
  expect(bucketOf("7d")).toBe("1h");
  expect(bucketOf("30d")).toBe("1d");
});

test("charts have a value for each bucket", () => {
  const chart = outcomeChart(stats);
  expect(chart.times).toEqual([1_769_860_800, 1_769_864_400]);
  expect(chart.series.map((each) => each.values)).toEqual([
    [2, 0],
    [1, 0],
  ]);
  expect(chart.summary).toBe("3 attempts, 2 succeeded, 1 failed, success rate 66.66 %.");
  expect(eventChart(stats).series[0]?.values).toEqual([2, 0]);
});

test("a bucket without attempts has no latency", () => {
  const chart = latencyChart(stats);
  expect(chart.series.map((each) => each.values)).toEqual([
    [null, 12],
    [null, 40],
    [null, 1_500],
  ]);
  expect(chart.summary).toBe("There were no attempts.");
  const total = tally({ duration_ms });
  expect(latencyChart({ ...stats, total }).summary).toBe("p50 12 ms, p95 40 ms, p99 1.5 s.");
});

describe("formatRate", () => {
  const hour = { from: "2026-01-31T12:00:00Z", to: "2026-01-31T13:00:00Z" };
  test.each([
    [0, "0 / h"],
    [3, "3 / h"],
    [90, "1.5 / min"],
    [3_600, "1 / s"],
    [1_234_567, "343 / s"],
  ])("%s in an hour is %s", (count, text) => expect(formatRate(count, hour)).toBe(text));
});

test("failures are listed by frequency", () => {
  expect(failureShares({ dns: 1, timeout: 3, ssl: 0 })).toEqual([
    { name: "timeout", count: 3, share: 0.75 },
    { name: "dns", count: 1, share: 0.25 },
  ]);
  expect(failureShares({})).toEqual([]);
});
