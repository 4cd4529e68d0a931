// Which messages of a refused submission still hold while the form is being corrected. Pure.
import { RawJson, writeJson } from "~/lib/rawJson.ts";

import type { Input, Messages } from "./formInput.ts";

/** What an input has at a place such as `retry_config.schedule_ms[0]`, as far as it is known. */
function textAt(input: Input, field: string): string {
  let value: unknown = input;
  for (const name of field.split(/[.[\]]+/).filter(Boolean)) {
    const isInner = typeof value === "object" && value !== null && !(value instanceof RawJson);
    if (!isInner) break;
    value = (value as Input)[name];
  }
  return value === undefined ? "" : writeJson(value);
}

/** The messages about fields that are still as they were sent. */
export const standingErrors = (messages: Messages, sent: Input, now: Input): Messages =>
  Object.fromEntries(
    Object.entries(messages).filter(([field]) => textAt(sent, field) === textAt(now, field)),
  );
