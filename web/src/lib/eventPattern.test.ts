import { expect, test } from "vitest";

import { groupOf, isEventType, isPattern, patternMatches } from "./eventPattern.ts";

test("accepts the names and patterns that the server accepts", () => {
  for (const each of ["order", "order.created", "a-b_c.D9"]) expect(isEventType(each)).toBe(true);
  for (const each of ["", ".a", "a.", "a..b", "a b", "order.*", "a".repeat(257)]) {
    expect(isEventType(each)).toBe(false);
  }
  for (const each of ["*", "order.*", "a.b.*", "order"]) expect(isPattern(each)).toBe(true);
  for (const each of ["", "**", "order*", "*.created", ".*", "a..*"]) {
    expect(isPattern(each)).toBe(false);
  }
});

test("a pattern matches the names below its prefix", () => {
  expect(patternMatches("*", "anything")).toBe(true);
  expect(patternMatches("order.*", "order.paid")).toBe(true);
  expect(patternMatches("order.*", "order.item.added")).toBe(true);
  expect(patternMatches("order.*", "order")).toBe(false);
  expect(patternMatches("order.*", "orders.paid")).toBe(false);
  expect(patternMatches("order", "order.paid")).toBe(false);
});

test("a group is the first word", () => {
  expect(groupOf("order.item.added")).toBe("order");
  expect(groupOf("ping")).toBe("ping");
});
