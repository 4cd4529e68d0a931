// One webhook, with filter and metadata as they were written: JSON.parse would change numbers.
import { memberText } from "~/lib/json.ts";

import { api, body } from "./client.ts";
import type { Webhook } from "./types.ts";

export interface WebhookWithText {
  webhook: Webhook;
  filterText: string | null;
  metadataText: string | null;
}

export async function readWebhookWithText(id: string): Promise<WebhookWithText> {
  const text = await body(
    api.GET("/v1/webhooks/{id}", { params: { path: { id } }, parseAs: "text" }),
  );
  const webhook = JSON.parse(text) as Webhook;
  return {
    webhook,
    filterText: webhook.filter === null ? null : memberText(text, "filter"),
    metadataText: memberText(text, "metadata"),
  };
}
