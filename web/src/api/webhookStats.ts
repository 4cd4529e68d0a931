// GET /v1/stats/webhooks: what the attempts of some webhooks came to, hour by hour.
import type { Client } from "openapi-fetch";

import { api, body } from "./client.ts";

export interface WebhookHours {
  webhook_id: string;
  buckets: { at: string; succeeded: number; failed: number }[];
  success_rate: number | null;
}

interface Paths {
  "/v1/stats/webhooks": {
    get: {
      parameters: { query: { ids: string; period: "24h" } };
      responses: { 200: { content: { "application/json": { data: WebhookHours[] } } } };
    };
  };
}

/** The API takes this many ids in one request. */
export const statsIdsMax = 100;

export async function readWebhookHours(ids: string[]): Promise<Map<string, WebhookHours>> {
  const hours = new Map<string, WebhookHours>();
  for (let start = 0; start < ids.length; start += statsIdsMax) {
    const query = { ids: ids.slice(start, start + statsIdsMax).join(","), period: "24h" as const };
    const { data } = await body(
      (api as unknown as Client<Paths>).GET("/v1/stats/webhooks", { params: { query } }),
    );
    for (const each of data) hours.set(each.webhook_id, each);
  }
  return hours;
}
