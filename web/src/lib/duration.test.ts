import { expect, test } from "vitest";

import { parseDuration, writeDuration } from "./duration.ts";

test("reads durations with units", () => {
  expect(parseDuration("30 s")).toBe(30_000);
  expect(parseDuration("1h30min")).toBe(5_400_000);
  expect(parseDuration("1 D 2 h")).toBe(93_600_000);
  expect(parseDuration("1.5 s")).toBe(1_500);
  expect(parseDuration("500")).toBe(500);
  expect(parseDuration(" 5m ")).toBe(300_000);
});

test("refuses what is not a duration", () => {
  for (const text of ["", "s", "five s", "1 week", "30 s later", "-1 s", "1..5 s"]) {
    expect(parseDuration(text)).toBeNull();
  }
});

test("writes what it reads", () => {
  for (const ms of [0, 1, 999, 30_000, 90_061_001, 604_800_000]) {
    expect(parseDuration(writeDuration(ms))).toBe(ms);
  }
  expect(writeDuration(5_400_000)).toBe("1 h 30 min");
});
