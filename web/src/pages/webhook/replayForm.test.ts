import { expect, test } from "vitest";

import { firstForm, toRequest } from "./replayForm.ts";

const now = Date.parse("2026-01-31T12:00:00Z");
const form = firstForm(undefined, now, "utc");

test("the form starts with what failed in the last day, or since a given time", () => {
  expect(toRequest(form, "utc")).toEqual({
    since: "2026-01-30T12:00:00.000Z",
    status: ["dead_letter", "cancelled"],
  });
  expect(firstForm("2026-01-01T00:00:00Z", now, "utc").since).toBe("2026-01-01T00:00:00");
  expect(firstForm("yesterday", now, "utc").since).toBe("2026-01-30T12:00:00");
});

test("optional fields are sent only if they are filled in", () => {
  const full = { ...form, until: "2026-01-31T00:00:00", types: ["order.*"], rate: 5 };
  expect(toRequest(full, "utc")).toEqual({
    since: "2026-01-30T12:00:00.000Z",
    until: "2026-01-31T00:00:00.000Z",
    status: ["dead_letter", "cancelled"],
    event_types: ["order.*"],
    rate_limit: { requests_per_second: 5 },
  });
});

test("what cannot be sent is explained", () => {
  expect(toRequest({ ...form, since: "" }, "utc")).toMatch(/^Enter the time/);
  expect(toRequest({ ...form, until: "2026-01-01T00:00:00" }, "utc")).toMatch(/after the start/);
  expect(toRequest({ ...form, states: [] }, "utc")).toMatch(/at least one state/);
});
