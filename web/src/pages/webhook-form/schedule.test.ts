import { expect, test } from "vitest";

import { describeRetry, describeSchedule, drawSchedule } from "./schedule.ts";

function planned(delays: number[], jitter = 0) {
  let at_ms = 0;
  return delays.map((delay_ms, index) => ({
    attempt: index + 2,
    delay_ms,
    delay_min_ms: delay_ms * (1 - jitter),
    delay_max_ms: delay_ms * (1 + jitter),
    at_ms: (at_ms += delay_ms),
  }));
}

test("points go from the first attempt to the last, in order", () => {
  const { points } = drawSchedule(planned([1_000, 5_000, 25_000]));
  expect(points.map((point) => point.attempt)).toEqual([1, 2, 3, 4]);
  expect(points[0]?.at).toBe(0);
  expect(points[3]?.at).toBe(1);
  for (let index = 1; index < points.length; ++index) {
    expect(points[index]?.at).toBeGreaterThan(points[index - 1]?.at ?? 0);
  }
});

test("jitter surrounds its point and stays inside the drawing", () => {
  const { points } = drawSchedule(planned([30_000, 60_000], 0.1));
  for (const point of points.slice(1)) {
    expect(point.from).toBeLessThan(point.at);
    expect(point.to).toBeGreaterThan(point.at);
    expect(point.to).toBeLessThanOrEqual(1);
  }
});

test("ticks do not overlap", () => {
  const { ticks } = drawSchedule(planned([1_000, 10_000, 60_000, 3_600_000, 86_400_000]));
  for (let index = 1; index < ticks.length; ++index) {
    expect((ticks[index]?.at ?? 0) - (ticks[index - 1]?.at ?? 0)).toBeGreaterThanOrEqual(0.12);
  }
});

test("a single attempt has one point", () => {
  expect(drawSchedule([])).toEqual({ points: [{ attempt: 1, at: 0, from: 0, to: 0 }], ticks: [] });
});

test("words", () => {
  expect(describeSchedule([])).toBe("One attempt, no retries.");
  expect(describeSchedule(planned([30_000, 300_000]))).toBe(
    "3 attempts. The last one comes 5 min 30 s after the first.",
  );
  expect(planned([30_000], 0.1).map(describeRetry)).toEqual([
    "Attempt 2: 30 s later (27 s to 33 s)",
  ]);
  expect(planned([30_000]).map(describeRetry)).toEqual(["Attempt 2: 30 s later"]);
});
