// One event, with its data as the publisher wrote it: JSON.parse would change large numbers.
import { memberText } from "~/lib/json.ts";

import { api, body } from "./client.ts";
import type { EventDetail } from "./types.ts";

export interface EventWithText {
  event: EventDetail;
  dataText: string;
  metadataText: string;
}

export async function readEvent(id: string): Promise<EventWithText> {
  const text = await body(
    api.GET("/v1/events/{id}", { params: { path: { id } }, parseAs: "text" }),
  );
  return {
    event: JSON.parse(text) as EventDetail,
    dataText: memberText(text, "data") ?? "null",
    metadataText: memberText(text, "metadata") ?? "{}",
  };
}

export interface EventToPublish {
  type: string;
  dataText: string; // JSON, sent byte for byte.
  metadataText: string; // A JSON object, or empty.
  tenant_id: string;
  resource_id: string;
  idempotency_key: string;
  priority: "high" | "normal" | "low";
  source: string;
  ordering_key: string;
}

/** The body of POST /v1/events. Empty fields are left out. Pure. */
export function publishBody(event: EventToPublish): string {
  const { dataText, metadataText, ...rest } = event;
  const given = Object.entries(rest).filter(([, value]) => value.trim() !== "");
  const fields = given.map(([name, value]) => `"${name}":${JSON.stringify(value.trim())}`);
  if (metadataText.trim() !== "") fields.push(`"metadata":${metadataText.trim()}`);
  return `{${[...fields, `"data":${dataText.trim()}`].join(",")}}`;
}

export function publishEvent(event: EventToPublish) {
  return body(
    api.POST("/v1/events", {
      body: { type: event.type, data: null },
      bodySerializer: () => publishBody(event),
    }),
  );
}
