import { expect, test } from "vitest";

import { deliveryQuery, isNarrowed, streamQuery } from "./deliveryFilters.ts";

const now = Date.parse("2026-01-31T12:00:00.000Z");

test("the query has what the API knows", () => {
  const filters = { status: "retrying", range: "1h", live: "off", cursor: "c" };
  expect(deliveryQuery(filters, now)).toEqual({
    status: "retrying",
    from: "2026-01-31T11:00:00.000Z",
  });
});

test("the stream gets its own filters only", () => {
  expect(
    streamQuery({ status: "pending", webhook_id: "w", tenant_id: "t", event_id: "e" }),
  ).toEqual({ webhook_id: "w", tenant_id: "t" });
});

test("live and paging do not narrow the list", () => {
  expect(isNarrowed({ live: "off", cursor: "c" })).toBe(false);
  expect(isNarrowed({ range: "1h" })).toBe(true);
});
