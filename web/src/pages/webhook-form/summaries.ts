// What is in force in each part of the form, in one line. Pure.
import type { Webhook } from "~/api/types.ts";
import type { WebhookPreview } from "~/api/webhookPreview.ts";
import { formatDuration, formatWord } from "~/lib/format.ts";

export function rateWords(limit: Webhook["rate_limit"]): string {
  if (!limit) return "no limit";
  return limit.requests_per_second
    ? `${limit.requests_per_second} per second`
    : `${limit.requests_per_minute ?? 0} per minute`;
}

const count = (number: number, one: string) => `${number} ${number === 1 ? one : `${one}s`}`;

export const summaries: Record<string, (preview: WebhookPreview) => string> = {
  filter: ({ webhook }) => (webhook.filter ? "Only events that match" : "No filter"),
  retries: ({ webhook, retry_schedule }) => {
    const { max_attempts, timeout_ms } = webhook.retry_config;
    const over = formatDuration(retry_schedule.at(-1)?.at_ms ?? 0);
    return `${count(max_attempts, "attempt")} over ${over}, timeout ${formatDuration(timeout_ms)}`;
  },
  circuit: ({ webhook }) => {
    const { enabled, preset } = webhook.circuit_breaker_config;
    return enabled ? (preset ?? "custom") : "off";
  },
  limits: ({ webhook }) =>
    `${rateWords(webhook.rate_limit)}, ${webhook.max_in_flight} in flight, order ${formatWord(webhook.ordering_guarantee)}`,
  request: ({ webhook }) => `${webhook.payload_format}, signed with ${webhook.signature.scheme}`,
  headers: ({ webhook }) => count(Object.keys(webhook.headers).length, "header"),
  details: ({ webhook }) => (webhook.active ? "active" : "inactive"),
};
