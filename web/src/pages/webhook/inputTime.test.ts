import { expect, test } from "vitest";

import { fromInputTime, toInputTime } from "./inputTime.ts";

test.each(["utc", "local"] as const)("a time survives the round trip (%s)", (zone) => {
  const at = "2026-01-31T14:05:09.000Z";
  expect(fromInputTime(toInputTime(Date.parse(at), zone), zone)).toBe(at);
});

test("UTC is written as it is, and what is not a time is null", () => {
  expect(toInputTime(Date.parse("2026-01-31T14:05:09.123Z"), "utc")).toBe("2026-01-31T14:05:09");
  expect(fromInputTime("", "utc")).toBeNull();
  expect(fromInputTime("soon", "utc")).toBeNull();
});
