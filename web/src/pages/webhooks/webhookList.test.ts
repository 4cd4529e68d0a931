import { expect, test } from "vitest";

import type { Webhook } from "~/api/types.ts";

import { matchesFilters } from "./webhookList.ts";

function hook(fields: Partial<Webhook>): Webhook {
  return {
    id: "whk_1",
    url: "https://Example.com/in",
    name: null,
    description: null,
    events: ["order.*"],
    active: true,
    paused: false,
    disabled_reason: null,
    tenant_id: null,
    circuit: { state: "closed" },
    ...fields,
  } as Webhook;
}

test("filters are combined", () => {
  expect(matchesFilters(hook({}), {})).toBe(true);
  expect(matchesFilters(hook({}), { q: "EXAMPLE", status: "active", circuit: "closed" })).toBe(
    true,
  );
  expect(matchesFilters(hook({}), { q: "EXAMPLE", status: "paused" })).toBe(false);
  expect(matchesFilters(hook({ paused: true }), { status: "paused" })).toBe(true);
  expect(matchesFilters(hook({ active: false }), { status: "disabled" })).toBe(true);
  expect(matchesFilters(hook({ active: false, paused: true }), { status: "paused" })).toBe(false);
  expect(matchesFilters(hook({}), { event_type: "order.paid" })).toBe(true);
  expect(matchesFilters(hook({}), { event_type: "user.paid" })).toBe(false);
  expect(matchesFilters(hook({ circuit: null }), { circuit: "open" })).toBe(false);
  expect(matchesFilters(hook({ tenant_id: "acme" }), { tenant_id: "acme" })).toBe(true);
});
