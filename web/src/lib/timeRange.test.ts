import { expect, test } from "vitest";

import { fromInput, rangeTimes, toInput } from "./timeRange.ts";

const now = Date.parse("2026-01-31T12:00:30.500Z");

test("a quick range starts at a whole minute and has no end", () => {
  expect(rangeTimes({ range: "1h" }, now)).toEqual({ from: "2026-01-31T11:00:00.000Z" });
});

test("times are passed on, unknown ranges are ignored", () => {
  expect(rangeTimes({ range: "soon", from: "a", to: "b" }, now)).toEqual({ from: "a", to: "b" });
  expect(rangeTimes({}, now)).toEqual({ from: undefined, to: undefined });
});

test("inputs and times convert into each other", () => {
  expect(toInput("2026-01-31T11:05:09.000Z", "utc")).toBe("2026-01-31T11:05");
  expect(fromInput("2026-01-31T11:05", "utc")).toBe("2026-01-31T11:05:00.000Z");
  const local = toInput("2026-07-31T11:05:00.000Z", "local");
  expect(fromInput(local, "local")).toBe("2026-07-31T11:05:00.000Z");
  expect(toInput(undefined, "local")).toBe("");
  expect(fromInput("", "utc")).toBeNull();
  expect(fromInput("2026-01-31T", "utc")).toBeNull();
});
