import { expect, test } from "vitest";

import { tableWidth } from "./tableWidth.ts";

test("columns without a width get the least one", () => {
  expect(tableWidth([])).toBe(0);
  expect(tableWidth([undefined, undefined])).toBe(224);
  expect(tableWidth(["8rem", undefined])).toBe(128 + 112);
});

test("shares of the table leave room for the other columns", () => {
  expect(tableWidth(["50%", "10rem"])).toBe(320);
  expect(tableWidth(["40%", undefined, "7rem", "7rem", "8rem"])).toBe(774);
  expect(tableWidth(["10%", undefined])).toBe(1120); // A share is not too narrow either.
  expect(tableWidth(["60%", "60%", "2rem"])).toBe(320);
});
