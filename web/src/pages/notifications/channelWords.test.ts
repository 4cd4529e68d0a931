import { expect, test } from "vitest";

import type { Delivery, Notification, Webhook } from "~/api/types.ts";

import {
  channelKinds,
  choiceWords,
  mailHealth,
  notificationKinds,
  notificationTitle,
  targetWords,
  testWords,
  webhookHealth,
} from "./channelWords.ts";

test("a target names addresses, owner and contacts, or the URL", () => {
  const target = { to: ["a@b.c"], to_owner: true, to_contacts: true };
  expect(targetWords({ target })).toBe("a@b.c, owner of the webhook, contacts of the tenant");
  expect(targetWords({ target: { url: "https://example.com/" } })).toBe("https://example.com/");
  expect(targetWords({ target: { url: null } })).toBe("The URL is not known");
});

test("kinds can be chosen by their words, those of the server by operators only", () => {
  const all = notificationKinds(true).map(({ value }) => value);
  expect(all).toHaveLength(24);
  expect(all).toContain("operation_finished");
  expect(all).not.toContain("circuit_recovered");
  const tenants = notificationKinds(false).map(({ value }) => value);
  expect(tenants).toContain("circuit_opened");
  expect(tenants).not.toContain("store_failing");
  expect(notificationTitle("test")).toBe("Test");
  expect(Object.keys(channelKinds)).toHaveLength(4);
});

test("the choice of a channel is told in one line", () => {
  const all = { kinds: [], severity_min: "info" as const, webhook_ids: [] };
  expect(choiceWords(all)).toBe("Everything");
  expect(
    choiceWords({
      kinds: ["circuit_opened", "webhook_disabled", "operation_finished"],
      severity_min: "warning",
      webhook_ids: ["whk_1"],
    }),
  ).toBe("Circuit opened, Webhook disabled and 1 more, warning or critical, about 1 webhook");
  expect(choiceWords({ ...all, severity_min: "critical", webhook_ids: ["a", "b"] })).toBe(
    "Everything, critical only, about 2 webhooks",
  );
});

const notification = (fields: Partial<Notification>) =>
  ({ state: "sent", attempts: 1, last_error: null, sent_at: null, ...fields }) as Notification;

test("a mail channel fails if its last message did", () => {
  const at = "2026-01-31T12:00:00.000Z";
  const sent = notification({ sent_at: at });
  const retried = notification({ state: "waiting", last_error: "451 later" });
  const fresh = notification({ state: "waiting", attempts: 0 });
  expect(mailHealth([])).toEqual({ state: "unused", lastSentAt: null, error: null });
  expect(mailHealth([fresh, sent])).toEqual({ state: "working", lastSentAt: at, error: null });
  expect(mailHealth([fresh, retried, sent])).toEqual({
    state: "failing",
    lastSentAt: at,
    error: "451 later",
  });
  expect(mailHealth([notification({ state: "failed", last_error: "550" })]).error).toBe("550");
});

test("another channel is as well as its webhook", () => {
  const hook = { active: true, paused: false, last_success_at: null, last_failure_at: null };
  const health = (fields: object) => webhookHealth({ ...hook, ...fields } as Webhook);
  const [early, late] = ["2026-01-31T12:00:00.000Z", "2026-01-31T12:00:01.000Z"];
  expect(health({}).state).toBe("unused");
  expect(health({ last_success_at: late, last_failure_at: early }).state).toBe("working");
  expect(health({ last_success_at: early, last_failure_at: late }).state).toBe("failing");
  expect(health({ active: false, disabled_reason: "410 Gone" }).error).toBe("410 Gone");
  expect(health({ paused: true }).state).toBe("failing");
  expect(health({ circuit: { state: "open" } }).state).toBe("failing");
});

test("a test to a URL is not over until its delivery is", () => {
  const published = notification({ event_id: "evt_1" });
  const outcome = (status: string, last_error: string | null = null) =>
    testWords({ notification: published, delivery: { status, last_error } as Delivery });
  expect(testWords({ notification: published, delivery: null }).isFinal).toBe(false);
  expect(outcome("in_flight").isFinal).toBe(false);
  expect(outcome("succeeded")).toMatchObject({ tone: "good", isFinal: true });
  expect(outcome("retrying", "404")).toMatchObject({ tone: "bad", text: "404", isFinal: true });
});

test("a test by mail is over when the mail server has answered", () => {
  const words = (fields: Partial<Notification>) =>
    testWords({ notification: notification({ event_id: null, ...fields }), delivery: null });
  expect(words({})).toMatchObject({ tone: "good", isFinal: true });
  expect(words({ state: "waiting", attempts: 0 })).toMatchObject({ tone: "plain", isFinal: false });
  expect(words({ state: "waiting", last_error: "451" })).toMatchObject({
    tone: "bad",
    text: "451",
  });
  expect(words({ state: "failed", last_error: "No mail server" })).toMatchObject({
    tone: "bad",
    text: "No mail server",
    isFinal: true,
  });
});
