import type { Delivery } from "~/api/types.ts";

export interface DiscardPart {
  event_id: string;
  webhook_id: string; // Several are separated by commas.
  count: number;
}

/**
 * The filters that select exactly these dead letters: the API discards by filter, and a webhook has
 * one delivery of an event. Pure.
 */
export function discardParts(rows: Pick<Delivery, "event_id" | "webhook_id">[]): DiscardPart[] {
  const webhooks = new Map<string, string[]>();
  for (const { event_id, webhook_id } of rows) {
    webhooks.set(event_id, [...(webhooks.get(event_id) ?? []), webhook_id]);
  }
  return [...webhooks].map(([event_id, ids]) => ({
    event_id,
    webhook_id: ids.join(","),
    count: ids.length,
  }));
}
