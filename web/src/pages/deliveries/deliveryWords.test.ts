import { expect, test } from "vitest";

import { attemptsOf, nextOf, offersRetry, resultOf } from "./deliveryWords.ts";

const at = "2026-01-31T12:00:00.000Z";

test("a waiting delivery names its blocker before its time", () => {
  const blocked = { reason: "circuit" as const, until: at };
  expect(nextOf({ status: "retrying", blocked, next_attempt_at: "earlier" })).toEqual({
    words: "Circuit open",
    at,
  });
  expect(nextOf({ status: "retrying", blocked: null, next_attempt_at: at })).toEqual({
    words: "Next retry",
    at,
  });
});

test("a finished delivery has nothing ahead", () => {
  expect(nextOf({ status: "succeeded", blocked: null, next_attempt_at: null })).toBeNull();
});

test("attempts n / max, also without a webhook", () => {
  expect(attemptsOf({ attempt_count: 3, max_attempts: 8 })).toBe("3 / 8");
  expect(attemptsOf({ attempt_count: 3, max_attempts: null })).toBe("3 / –");
});

test("a result has the status, the failure or both", () => {
  expect(resultOf({ http_status: 200, failure_category: null })).toBe("200");
  expect(resultOf({ http_status: 503, failure_category: "server_error" })).toBe("503 server error");
  expect(resultOf({ http_status: null, failure_category: "timeout" })).toBe("timeout");
  expect(resultOf({ http_status: null, failure_category: null })).toBeNull();
});

test("dead letters and retrying deliveries can be retried unless the webhook is gone", () => {
  expect(offersRetry({ status: "dead_letter", webhook_url: "https://a" })).toBe(true);
  expect(offersRetry({ status: "retrying", webhook_url: "https://a" })).toBe(true);
  expect(offersRetry({ status: "succeeded", webhook_url: "https://a" })).toBe(false);
  expect(offersRetry({ status: "dead_letter", webhook_url: null })).toBe(false);
});
