// One event type, with schema and example as they were written: JSON.parse would change numbers.
import { memberText } from "~/lib/json.ts";

import { api, body } from "./client.ts";
import type { EventTypeEntry } from "./types.ts";

export interface EventTypeWithText {
  entry: EventTypeEntry;
  schemaText: string | null;
  exampleText: string | null;
}

export async function readEventType(name: string): Promise<EventTypeWithText> {
  const text = await body(
    api.GET("/v1/event-types/{name}", { params: { path: { name } }, parseAs: "text" }),
  );
  const entry = JSON.parse(text) as EventTypeEntry;
  return {
    entry,
    schemaText: entry.schema === null ? null : memberText(text, "schema"),
    exampleText: entry.example === null ? null : memberText(text, "example"),
  };
}
