import { expect, test } from "vitest";

import { fromInput, toInput } from "./inputTime.ts";

const at = "2026-01-31T14:05:09.123Z";

test("UTC is written as it is", () => {
  expect(toInput(at, "utc")).toBe("2026-01-31T14:05");
  expect(toInput(Date.parse(at), "utc", "seconds")).toBe("2026-01-31T14:05:09");
  expect(fromInput("2026-01-31T14:05", "utc")).toBe("2026-01-31T14:05:00.000Z");
});

test.each(["utc", "local"] as const)("a time survives the round trip (%s)", (zone) => {
  for (const minute of ["2026-01-31T14:05:00.000Z", "2026-07-31T14:05:00.000Z"]) {
    expect(fromInput(toInput(minute, zone), zone)).toBe(minute);
  }
  expect(fromInput(toInput(at, zone, "seconds"), zone)).toBe("2026-01-31T14:05:09.000Z");
});

test("what is not a time is empty or null", () => {
  expect(toInput(undefined, "local")).toBe("");
  expect(toInput("soon", "utc")).toBe("");
  for (const text of ["", "soon", "2026-01-31T"]) expect(fromInput(text, "utc")).toBeNull();
});
