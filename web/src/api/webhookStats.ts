// GET /v1/stats/webhooks: what the attempts of some webhooks came to, hour by hour.
import { api, body } from "./client.ts";
import type { operations } from "#contract";

type Answer = operations["getWebhookStats"]["responses"][200]["content"]["application/json"];
export type WebhookHours = Answer["data"][number];

/** The API takes this many ids in one request. */
export const statsIdsMax = 100;

export async function readWebhookHours(ids: string[]): Promise<Map<string, WebhookHours>> {
  const hours = new Map<string, WebhookHours>();
  for (let start = 0; start < ids.length; start += statsIdsMax) {
    const query = { ids: ids.slice(start, start + statsIdsMax).join(","), period: "24h" as const };
    const { data }: Answer = await body(api.GET("/v1/stats/webhooks", { params: { query } }));
    for (const each of data) hours.set(each.webhook_id, each);
  }
  return hours;
}
