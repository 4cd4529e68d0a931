import { expect, test } from "vitest";

import { formatDuration } from "~/lib/format.ts";

import { circuitRules, circuitWords, openedWords } from "./circuitWords.ts";

const config: Parameters<typeof circuitRules>[0] = {
  preset: null,
  enabled: true,
  window: "time",
  window_size_ms: 60_000,
  window_calls: 0,
  minimum_throughput: 10,
  error_threshold_percentage: 50,
  failure_count_threshold: 0,
  consecutive_failure_threshold: 5,
  sleep_window_ms: 30_000,
  sleep_multiplier: 2,
  sleep_max_ms: 600_000,
  half_open_max_calls: 3,
  half_open_success_percentage: 100,
  force_open_until: null,
};

test("a forced circuit is described by the force, not by its state", () => {
  expect(circuitWords({ state: "open", forced: "open" })).toContain("forced open");
  expect(circuitWords({ state: "closed", forced: "closed" })).toContain("forced closed");
  expect(circuitWords({ state: "half_open", forced: null })).toContain("probes");
  // A closed circuit says nothing about how many attempts fail.
  expect(circuitWords({ state: "closed", forced: null })).toBe("Deliveries are sent as they come.");
});

test("only the thresholds in use are told", () => {
  expect(circuitRules(config, formatDuration)).toEqual([
    "Opens if 50 % of the last 1 min failed, with at least 10 attempts.",
    "Opens after 5 timeouts in a row.",
    "Probes after 30 s, then × 2, at most 10 min.",
  ]);
  const counted = { ...config, window: "count" as const, window_calls: 20 };
  expect(circuitRules({ ...counted, failure_count_threshold: 7 }, formatDuration)[1]).toBe(
    "Opens after 7 failures in the last 20 attempts.",
  );
  expect(circuitRules({ ...config, enabled: false }, formatDuration)).toHaveLength(1);
});

test("openings are counted in words", () => {
  expect(openedWords({ times_opened: 0, openings_in_row: 0 })).toBe("never");
  expect(openedWords({ times_opened: 1, openings_in_row: 1 })).toBe("once");
  expect(openedWords({ times_opened: 4, openings_in_row: 0 })).toBe("4 times");
  expect(openedWords({ times_opened: 4, openings_in_row: 3 })).toBe(
    "4 times, the last 3 without a recovery",
  );
});
