// Notification channels and notifications in words. Pure.
import type {
  ChannelKind,
  Delivery,
  Notification,
  NotificationChannel,
  Webhook,
} from "~/api/types.ts";
import type { Tone } from "~/ui/Notice.tsx";

import { kindChoices, wordsOf } from "../alerts/alertKinds.ts";

export const channelKinds: Record<ChannelKind, { label: string; description: string }> = {
  email: { label: "E-mail", description: "To addresses, owners of webhooks and contacts" },
  slack: { label: "Slack", description: "To the incoming webhook of a Slack channel" },
  teams: { label: "Microsoft Teams", description: "To the incoming webhook of a Teams channel" },
  webhook: { label: "Webhook", description: "Signed events to a URL of your own" },
};

export const channelPath = (id: string) => `/notifications/${id}`;

const plural = (count: number, one: string) => `${count} ${count === 1 ? one : `${one}s`}`;

/** Where messages go. */
export function targetWords({ target }: Pick<NotificationChannel, "target">): string {
  if ("url" in target) return target.url ?? "The URL is not known";
  const parts = [...target.to];
  if (target.to_owner) parts.push("owner of the webhook");
  if (target.to_contacts) parts.push("contacts of the tenant");
  return parts.join(", ");
}

export function notificationTitle(kind: string): string {
  if (kind === "operation_finished") return "Operation finished";
  if (kind === "test") return "Test";
  return wordsOf(kind).title;
}

/** What a channel can be told about. `operator`: also what concerns the whole server. */
export function notificationKinds(operator: boolean): { value: string; label: string }[] {
  return [
    // A recovery is the end of the alert "Circuit opened".
    ...kindChoices(operator).filter(({ value }) => value !== "circuit_recovered"),
    { value: "operation_finished", label: notificationTitle("operation_finished") },
  ].sort((a, b) => a.label.localeCompare(b.label));
}

const kindsShown = 2;

/** What the channel is told about, in one line. */
export function choiceWords(
  channel: Pick<NotificationChannel, "kinds" | "severity_min" | "webhook_ids">,
): string {
  const { kinds, severity_min, webhook_ids } = channel;
  const titles = kinds.slice(0, kindsShown).map(notificationTitle);
  const more = kinds.length - titles.length;
  const parts = [
    kinds.length === 0 ? "Everything" : titles.join(", ") + (more > 0 ? ` and ${more} more` : ""),
  ];
  if (severity_min === "warning") parts.push("warning or critical");
  if (severity_min === "critical") parts.push("critical only");
  if (webhook_ids.length > 0) parts.push(`about ${plural(webhook_ids.length, "webhook")}`);
  return parts.join(", ");
}

export interface ChannelHealth {
  state: "working" | "failing" | "unused";
  lastSentAt: string | null;
  error: string | null;
}

const hasFailed = ({ state, attempts }: Notification) =>
  state === "failed" || (state === "waiting" && attempts > 0);

/** Of a channel of kind `email`. `recent`: its last notifications, newest first. */
export function mailHealth(recent: Notification[]): ChannelHealth {
  const lastSentAt = recent.find(({ state }) => state === "sent")?.sent_at ?? null;
  const last = recent.find((each) => each.state === "sent" || hasFailed(each));
  if (!last) return { state: "unused", lastSentAt, error: null };
  return last.state === "sent"
    ? { state: "working", lastSentAt, error: null }
    : { state: "failing", lastSentAt, error: last.last_error };
}

/** Of the other kinds: what the channel's webhook delivers is what arrives. */
export function webhookHealth(hook: Webhook): ChannelHealth {
  const { last_success_at: lastSentAt, last_failure_at } = hook;
  const failing = (error: string): ChannelHealth => ({ state: "failing", lastSentAt, error });
  if (!hook.active) return failing(hook.disabled_reason ?? "The webhook is not active.");
  if (hook.paused) return failing("The webhook is paused.");
  if (hook.circuit?.state === "open") return failing("The circuit of the webhook is open.");
  if (last_failure_at && (!lastSentAt || Date.parse(last_failure_at) > Date.parse(lastSentAt))) {
    return failing("The last attempt to deliver a message failed.");
  }
  return { state: lastSentAt ? "working" : "unused", lastSentAt, error: null };
}

export interface TestOutcome {
  notification: Notification;
  delivery: Delivery | null; // Of a message that goes to a URL.
}

export interface TestWords {
  tone: Tone;
  title: string;
  text: string;
  isFinal: boolean;
}

function deliveryWords(delivery: Delivery | null): TestWords {
  switch (delivery?.status) {
    case "succeeded":
      return {
        tone: "good",
        title: "The receiver accepted the test",
        text: "Check that the message can be read there.",
        isFinal: true,
      };
    case "retrying":
    case "dead_letter":
    case "cancelled":
      return {
        tone: "bad",
        title: "The receiver did not accept the test",
        text: delivery.last_error ?? "The delivery shows the answer.",
        isFinal: true,
      };
    default:
      return {
        tone: "plain",
        title: "The test is being sent",
        text: "Waiting for the receiver …",
        isFinal: false,
      };
  }
}

/** What became of a test so far. */
export function testWords({ notification, delivery }: TestOutcome): TestWords {
  const { state, attempts, last_error, event_id } = notification;
  if (state === "sent") {
    if (event_id) return deliveryWords(delivery);
    return {
      tone: "good",
      title: "The mail server accepted the test",
      text: "Check that the message has arrived, also among unwanted mail.",
      isFinal: true,
    };
  }
  if (state === "waiting") {
    return {
      tone: attempts > 0 ? "bad" : "plain",
      title: attempts > 0 ? "The test could not be sent yet" : "The test is being sent",
      text: last_error ?? "Waiting for the result …",
      isFinal: false,
    };
  }
  return {
    tone: "bad",
    title: "The test was not sent",
    text: last_error ?? "The server gave no reason.",
    isFinal: true,
  };
}
