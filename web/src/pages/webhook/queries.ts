// The data of one webhook. All keys begin with ["webhook", id], so that one call refreshes them.
import { useQuery } from "@tanstack/react-query";

import { api, body } from "~/api/client.ts";
import type { Webhook, WebhookHealth } from "~/api/types.ts";

export const webhookKey = (id: string) => ["webhook", id] as const;

const idleRefetchMs = 30_000;

export function useWebhook(id: string) {
  return useQuery({
    queryKey: [...webhookKey(id), "fields"],
    queryFn: () =>
      body(api.GET("/v1/webhooks/{id}", { params: { path: { id } } })) as Promise<Webhook>,
    refetchInterval: idleRefetchMs,
  });
}

export const readHealth = (id: string) =>
  body(api.GET("/v1/webhooks/{id}/health", { params: { path: { id } } })) as Promise<WebhookHealth>;

export function useHealth(id: string) {
  return useQuery({
    queryKey: [...webhookKey(id), "health"],
    queryFn: () => readHealth(id),
    refetchInterval: idleRefetchMs,
  });
}
