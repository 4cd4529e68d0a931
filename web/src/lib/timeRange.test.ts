import { expect, test } from "vitest";

import { rangeTimes } from "./timeRange.ts";

const now = Date.parse("2026-01-31T12:00:30.500Z");

test("a quick range starts at a whole minute and has no end", () => {
  expect(rangeTimes({ range: "1h" }, now)).toEqual({ from: "2026-01-31T11:00:00.000Z" });
});

test("times are passed on, unknown ranges are ignored", () => {
  expect(rangeTimes({ range: "soon", from: "a", to: "b" }, now)).toEqual({ from: "a", to: "b" });
  expect(rangeTimes({}, now)).toEqual({ from: undefined, to: undefined });
});
