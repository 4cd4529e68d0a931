import { expect, test } from "vitest";

import { batchFilter, deadLetterQuery, groupBy, isNarrowed } from "./deadLetterFilters.ts";

const now = Date.parse("2026-01-31T12:00:00.000Z");

test("the query has what the API knows and no unknown words", () => {
  const filters = { age: "lt_1h", classification: "odd", by: "age", cursor: "c" };
  const query = deadLetterQuery(filters, now);
  expect(query.age).toBe("lt_1h");
  expect(query.classification).toBeUndefined();
  expect(isNarrowed(query)).toBe(true);
  expect(isNarrowed(deadLetterQuery({ by: "age" }, now))).toBe(false);
});

test("a bulk retry gets an age as times, within those that are given", () => {
  expect(batchFilter({ age: "1h_24h" }, now)).toMatchObject({
    from: "2026-01-30T12:00:00.000Z",
    to: "2026-01-31T11:00:00.000Z",
  });
  const narrower = { age: "1h_24h" as const, from: "2026-01-31T00:00:00.000Z" };
  expect(batchFilter(narrower, now).from).toBe("2026-01-31T00:00:00.000Z");
  expect(batchFilter({ age: "gt_24h", to: "2026-01-31T00:00:00.000Z" }, now).to).toBe(
    "2026-01-30T12:00:00.000Z",
  );
});

test("lists are split", () => {
  const filter = batchFilter({ event_type: "a.*, b", failure_category: "timeout" }, now);
  expect(filter.event_types).toEqual(["a.*", "b"]);
  expect(filter.failure_categories).toEqual(["timeout"]);
  expect(filter.webhook_ids).toBeUndefined();
});

test("groups are by webhook unless the address says otherwise", () => {
  expect(groupBy({})).toBe("webhook");
  expect(groupBy({ by: "age" })).toBe("age");
  expect(groupBy({ by: "nothing" })).toBe("webhook");
});
