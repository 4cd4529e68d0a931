import { expect, test } from "vitest";

import type { Setting } from "~/api/settings.ts";

import { filterSettings, valueText } from "./filterSettings.ts";

const rest = { default: null, description: "", reload: false };
const settings: Setting[] = [
  { name: "listen", value: "127.0.0.1:8080", origin: "flag", detail: "--listen", ...rest },
  { name: "limits.webhooks_per_tenant", value: 1_000, origin: "default", detail: null, ...rest },
];
const names = (filters: object) => filterSettings(settings, filters).map(({ name }) => name);

test("all words must be in name or value", () => {
  expect(names({})).toHaveLength(2);
  expect(names({ q: "tenant 1000" })).toEqual(["limits.webhooks_per_tenant"]);
  expect(names({ q: "LISTEN" })).toEqual(["listen"]);
  expect(names({ q: "listen 1000" })).toEqual([]);
});

test("by origin", () => {
  expect(names({ origin: "changed" })).toEqual(["listen"]);
  expect(names({ origin: "default" })).toEqual(["limits.webhooks_per_tenant"]);
});

test("values are readable", () => {
  expect([null, "", "a", 5, ["a"]].map(valueText)).toEqual(["not set", "empty", "a", "5", '["a"]']);
});
