// POST /v1/webhooks/preview: what a webhook would be and do. Nothing is stored or sent.
import { api, body } from "./client.ts";
import type { components } from "#contract";

export type WebhookPreview = components["schemas"]["WebhookPreview"];
export type PlannedRetry = WebhookPreview["retry_schedule"][number];
export type PreviewedRequest = NonNullable<WebhookPreview["request"]>;
export type Matches = NonNullable<WebhookPreview["matches"]>;

/** `text`: the JSON of `{webhook, webhook_id?, event?}`, sent as it is. */
export const previewWebhook = (text: string, signal: AbortSignal): Promise<WebhookPreview> =>
  body(api.POST("/v1/webhooks/preview", { body: {}, bodySerializer: () => text, signal }));
