// POST /v1/webhooks/{id}/test: a delivery of a test event, attempted at once.
import { api, body } from "./client.ts";
import type { Attempt } from "./types.ts";

export interface TestAnswer {
  event_id: string;
  delivery_id: string;
  attempt: Attempt | null; // Null: not made in time.
}

/**
 * The body of the request. The data is kept byte for byte, because JavaScript would change large
 * numbers. Pure.
 */
export function testBody(eventType: string, data: string): string {
  const parts: string[] = [];
  if (eventType.trim()) parts.push(`"event_type":${JSON.stringify(eventType.trim())}`);
  if (data.trim()) parts.push(`"data":${data}`);
  return `{${parts.join(",")}}`;
}

/** `data`: JSON, sent as it is. */
export const sendTest = (id: string, eventType: string, data: string) =>
  body(
    api.POST("/v1/webhooks/{id}/test", {
      params: { path: { id } },
      body: {},
      bodySerializer: () => testBody(eventType, data),
      headers: { "Content-Type": "application/json" },
    }),
  ) as Promise<TestAnswer>;
