import { expect, test } from "vitest";

import { rateWords, retryFacts } from "./configurationFacts.ts";

const retry: Parameters<typeof retryFacts>[0] = {
  preset: null,
  max_attempts: 5,
  max_attempts_auto: true,
  base_delay_ms: 30_000,
  max_delay_ms: 86_400_000,
  backoff_multiplier: 2,
  schedule_ms: [],
  jitter: { minus: 0.1, plus: 0.2, extra_ms: 500 },
  timeout_ms: 30_000,
  timeout_growth_factor: 1,
  permanent_statuses: [],
  category_minimums: false,
  honor_retry_after: true,
  ssl_max_attempts: 3,
};
const facts = (changes: Partial<typeof retry>) =>
  Object.fromEntries(retryFacts({ ...retry, ...changes }));

test("retries are told in words", () => {
  expect(facts({})).toMatchObject({
    Attempts: "5 (auto)",
    Delays: "30 s, then × 2, at most 1 d",
    Jitter: "−10 % to +20 %, up to 500 ms more",
    "Permanent statuses": "none",
  });
  expect(facts({ schedule_ms: [1_000, 60_000] })["Delays"]).toBe("1 s, 1 min");
});

test("a rate limit has its own unit", () => {
  expect(rateWords(null)).toBe("none");
  expect(rateWords({ requests_per_second: 5, burst: 10 })).toBe("5 / s, bursts of 10");
  expect(rateWords({ requests_per_minute: 30, burst: 1 })).toBe("30 / min, bursts of 1");
});
