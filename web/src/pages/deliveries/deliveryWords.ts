// What a row says about a delivery. Pure.
import type { Blocked, Delivery } from "~/api/types.ts";
import { formatWord } from "~/lib/format.ts";

type Reason = NonNullable<Blocked>["reason"];

const blockers: Record<Reason, string> = {
  suspended: "Tenant suspended",
  paused: "Webhook paused",
  inactive: "Webhook inactive",
  circuit: "Circuit open",
  rate: "Rate limit reached",
  slots: "Too many requests at once",
  order: "Waits for an earlier delivery",
  store: "Store not available",
  drain: "Server is shutting down",
};

export const blockerWords = (reason: Reason): string => blockers[reason];

export interface Next {
  words: string;
  at: string | null; // When it happens or ends, if that is known.
}

/** What happens next to a delivery, or what blocks it; null if nothing does. */
export function nextOf(
  delivery: Pick<Delivery, "status" | "blocked" | "next_attempt_at">,
): Next | null {
  switch (delivery.status) {
    case "in_flight":
      return { words: "Sending now", at: null };
    case "pending":
    case "retrying":
      if (delivery.blocked) {
        return { words: blockerWords(delivery.blocked.reason), at: delivery.blocked.until };
      }
      return {
        words: delivery.status === "pending" ? "Next attempt" : "Next retry",
        at: delivery.next_attempt_at,
      };
    default:
      return null;
  }
}

/** `3 / 8`: attempts of the current budget, and at most. */
export function attemptsOf(delivery: Pick<Delivery, "attempt_count" | "max_attempts">): string {
  return `${delivery.attempt_count} / ${delivery.max_attempts ?? "–"}`;
}

/** The result of the latest attempt: `200`, `503 server error`, `timeout`; null before it. */
export function resultOf(
  attempt: Pick<Delivery, "http_status" | "failure_category">,
): string | null {
  const words = attempt.failure_category ? formatWord(attempt.failure_category) : "";
  const text = [attempt.http_status?.toString() ?? "", words].filter(Boolean).join(" ");
  return text === "" ? null : text;
}

export const isFinal = (status: Delivery["status"]) =>
  status === "succeeded" || status === "dead_letter" || status === "cancelled";

/** Where a retry by hand makes sense in a list. */
export const offersRetry = (delivery: Pick<Delivery, "status" | "webhook_url">) =>
  (delivery.status === "dead_letter" || delivery.status === "retrying") &&
  delivery.webhook_url !== null;

/** The name of the webhook, or its id if it has none. */
export const webhookLabel = (delivery: Pick<Delivery, "webhook_id" | "webhook_name">) =>
  delivery.webhook_name ?? delivery.webhook_id;
