import { describe, expect, test } from "vitest";

import { formatDuration, formatRelative, formatShare, formatTime } from "./format.ts";

describe("formatShare", () => {
  test.each([
    [1, "100 %"],
    [0, "0 %"],
    [0.99996, "99.99 %"],
    [0.5, "50 %"],
    [0.1234, "12.34 %"],
    [null, "–"],
  ])("%s is %s", (share, text) => expect(formatShare(share)).toBe(text));
});

describe("formatDuration", () => {
  test.each([
    [0, "0 ms"],
    [12.4, "12 ms"],
    [1_550, "1.5 s"],
    [45_000, "45 s"],
    [5_400_000, "1 h 30 min"],
    [86_400_000, "1 d"],
    [86_401_000, "1 d"],
  ])("%s ms is %s", (ms, text) => expect(formatDuration(ms)).toBe(text));
});

describe("formatRelative", () => {
  const now = Date.parse("2026-01-31T12:00:00Z");
  test.each([
    ["2026-01-31T12:00:00.500Z", "now"],
    ["2026-01-31T11:55:00Z", "5 min ago"],
    ["2026-01-31T12:00:30Z", "in 30 s"],
    ["2026-01-29T11:00:00Z", "2 d ago"],
  ])("%s is %s", (at, text) => expect(formatRelative(at, now)).toBe(text));
});

test("times are given in UTC with the zone", () => {
  expect(formatTime("2026-01-31T12:05:09.042Z", "utc", true)).toBe("2026-01-31 12:05:09.042 UTC");
  expect(formatTime("not a time", "utc")).toBe("not a time");
});
