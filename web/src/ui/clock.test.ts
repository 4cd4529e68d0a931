import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { clockNow, subscribeToClock } from "./clock.ts";

beforeEach(() => vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => vi.useRealTimers());

test("the clock ticks every second while somebody listens", () => {
  let ticks = 0;
  const stop = subscribeToClock(() => (ticks += 1));
  vi.advanceTimersByTime(3_000);
  expect(ticks).toBe(3);
  expect(clockNow()).toBe(1_003_000);
  stop();
  vi.advanceTimersByTime(3_000);
  expect(ticks).toBe(3);
});

test("a listener that comes later sees the present time at once", () => {
  subscribeToClock(() => undefined)();
  vi.advanceTimersByTime(60_000);
  const stop = subscribeToClock(() => undefined);
  expect(clockNow()).toBe(1_060_000);
  stop();
});
