import { expect, test } from "vitest";

import type { NotificationChannel } from "~/api/types.ts";

import { channelValues, emptyChannel, readChangedChannel, readNewChannel } from "./channelInput.ts";

const stored = {
  id: "ntc_1",
  tenant_id: null,
  name: "On call",
  kind: "email",
  target: { to: ["a@b.c"], to_owner: false, to_contacts: true },
  webhook_id: null,
  kinds: ["circuit_opened"],
  severity_min: "warning",
  webhook_ids: [],
  send_resolved: true,
  group_window_ms: 300_000,
  per_hour_max: 10,
  active: true,
  configured: false,
} as unknown as NotificationChannel;

test("a new channel has everything that was entered", () => {
  const values = {
    ...emptyChannel(),
    kind: "webhook" as const,
    name: " Ops ",
    url: " https://example.com/ ",
    secret: "whsec_x",
    tenant_id: "acme",
    to: ["left@over.example"],
  };
  expect(readNewChannel(values)).toEqual({
    input: {
      name: "Ops",
      kind: "webhook",
      tenant_id: "acme",
      target: { url: "https://example.com/", secret: "whsec_x" },
      kinds: [],
      severity_min: "info",
      webhook_ids: [],
      send_resolved: true,
      group_window_ms: 60_000,
      per_hour_max: 30,
      active: true,
    },
    errors: {},
  });
  const slack = readNewChannel({ ...values, kind: "slack" });
  expect(slack.input.target).toEqual({ url: "https://example.com/" });
});

test("what is missing or wrong is named by the API's names", () => {
  const { errors } = readNewChannel({ ...emptyChannel(), group_window: "2 h", per_hour: "0" });
  expect(Object.keys(errors).sort()).toEqual([
    "group_window_ms",
    "name",
    "per_hour_max",
    "target.to",
  ]);
  const { errors: slack } = readNewChannel({ ...emptyChannel(), kind: "slack", name: "a" });
  expect(Object.keys(slack)).toEqual(["target.url"]);
});

test("a change has only what differs", () => {
  const start = channelValues(stored);
  expect(start).toMatchObject({ group_window: "5 min", per_hour: "10", to: ["a@b.c"] });
  expect(readChangedChannel(start, start)).toEqual({ input: {}, errors: {} });
  const changed = { ...start, name: "Night", kinds: [], group_window: "0", to_owner: true };
  expect(readChangedChannel(changed, start)).toEqual({
    input: {
      name: "Night",
      kinds: [],
      group_window_ms: 0,
      target: { to: ["a@b.c"], to_owner: true, to_contacts: true },
    },
    errors: {},
  });
});

test("a secret that is left empty stays as it is", () => {
  const hook = { ...stored, kind: "webhook", target: { url: "https://example.com/" } };
  const start = channelValues(hook as NotificationChannel);
  expect(readChangedChannel({ ...start, active: false }, start).input).toEqual({ active: false });
  expect(readChangedChannel({ ...start, secret: "whsec_y" }, start).input).toEqual({
    target: { url: "https://example.com/", secret: "whsec_y" },
  });
});
