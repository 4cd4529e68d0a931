import { expect, test } from "vitest";

import { limitsWords, tenantPath, tenantState } from "./tenant.ts";

const none = {
  webhooks_max: null,
  events_per_minute: null,
  timeout_ms_max: null,
  max_in_flight_max: null,
};

test("only limits of its own are named", () => {
  expect(limitsWords(none)).toBe("none");
  expect(limitsWords({ ...none, webhooks_max: 0, timeout_ms_max: 90_000 })).toBe(
    "0 webhooks, timeout 1 min 30 s",
  );
});

test("an id with special characters has a path of its own", () => {
  expect(tenantPath("a:b@c")).toBe("/tenants/a%3Ab%40c");
});

test("a suspended tenant says so", () => {
  expect(tenantState({ suspended_at: "2026-01-31T00:00:00.000Z" })).toBe("suspended");
  expect(tenantState({ suspended_at: null })).toBe("active");
});
