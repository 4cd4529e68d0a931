import { expect, test } from "vitest";

import { changedSearch, clearedFilters, readFilters } from "./filters.ts";

test("reads only the named parameters", () => {
  expect(readFilters("?status=failed&x=1&q=", ["status", "q"])).toEqual({ status: "failed" });
});

test("a changed filter leads back to the first page", () => {
  expect(changedSearch("status=failed&cursor=abc", { q: "x" })).toBe("status=failed&q=x");
  expect(changedSearch("status=failed", { cursor: "abc" })).toBe("status=failed&cursor=abc");
  expect(changedSearch("status=failed&cursor=abc", { status: null })).toBe("");
});

test("all filters are cleared but those that do not narrow the list", () => {
  expect(clearedFilters({ status: "failed", live: "off" }, ["live"])).toEqual({
    status: null,
    cursor: null,
  });
});
