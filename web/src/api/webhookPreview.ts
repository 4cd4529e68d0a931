// POST /v1/webhooks/preview: what a webhook would be and do. Nothing is stored or sent.
import type { Client } from "openapi-fetch";

import { api, body } from "./client.ts";
import type { Webhook } from "./types.ts";

export interface PlannedRetry {
  attempt: number;
  delay_ms: number;
  delay_min_ms: number;
  delay_max_ms: number;
  at_ms: number;
}

export interface PreviewedRequest {
  method: string;
  url: string;
  headers: { name: string; value: string }[];
  body: string;
}

export interface Matches {
  event_type: boolean;
  filter: boolean;
  tenant: boolean;
  resource: boolean;
}

export interface WebhookPreview {
  webhook: Webhook;
  retry_schedule: PlannedRetry[];
  matches: Matches | null;
  request: PreviewedRequest | null;
  signed_with: "webhook_secret" | "example_secret";
}

interface Paths {
  "/v1/webhooks/preview": {
    post: {
      requestBody: { content: { "application/json": string } };
      responses: { 200: { content: { "application/json": WebhookPreview } } };
    };
  };
}

/** `text`: the JSON of `{webhook, webhook_id?, event?}`, as it is sent. */
export const previewWebhook = (text: string, signal: AbortSignal) =>
  body(
    (api as unknown as Client<Paths>).POST("/v1/webhooks/preview", {
      body: text,
      bodySerializer: () => text,
      signal,
    }),
  );
