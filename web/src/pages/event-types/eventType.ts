import type { EventTypeWithText } from "~/api/eventTypes.ts";
import type { EventTypeEntry } from "~/api/types.ts";
import { indentJson, isJson } from "~/lib/json.ts";

export const eventTypePath = (name: string) => `/event-types/show/${encodeURIComponent(name)}`;

export function validationWords(entry: Pick<EventTypeEntry, "schema" | "validate">): string {
  if (!entry.schema) return "no schema";
  return entry.validate ? "against the schema" : "switched off";
}

export interface EventTypeDraft {
  name: string;
  description: string;
  schemaText: string;
  exampleText: string;
  validate: boolean;
}

const asText = (text: string | null | undefined) => (text ? (indentJson(text) ?? text) : "");

export const draftOf = (known: EventTypeWithText | null): EventTypeDraft => ({
  name: known?.entry.name ?? "",
  description: known?.entry.description ?? "",
  schemaText: asText(known?.schemaText),
  exampleText: asText(known?.exampleText),
  validate: known?.entry.validate ?? true,
});

/** What is wrong with the text of a schema besides its JSON, or null. */
export function schemaProblem(text: string): string | null {
  const isObject = text.trim() === "" || text.trim().startsWith("{");
  return isObject ? null : "A schema is a JSON object.";
}

const isName = (name: string) => /^[\w-]+(\.[\w-]+)*$/.test(name.trim());

/** What is wrong with a name, or null. While it is being typed, it may be unfinished. */
export function nameProblem(name: string, isTyping: boolean): string | null {
  if (isTyping && (name.trim() === "" || isName(name.trim().replace(/\.$/, "")))) return null;
  if (name.trim() === "") return "Enter a name.";
  return isName(name)
    ? null
    : "Use letters, digits, _ and -, in parts separated by single dots, for example order.paid.";
}

const isEmptyOrJson = (text: string) => text.trim() === "" || isJson(text);

/** Whether the server has to be asked about it. */
export const isComplete = (draft: EventTypeDraft) =>
  isName(draft.name) &&
  isEmptyOrJson(draft.schemaText) &&
  isEmptyOrJson(draft.exampleText) &&
  schemaProblem(draft.schemaText) === null;

const orNull = (text: string) => (text.trim() === "" ? "null" : text.trim());

/** The body of a creation or change. Schema and example are sent as they were written. */
export function changeBody(draft: EventTypeDraft, isNew: boolean): string {
  const fields = [
    `"description":${draft.description.trim() ? JSON.stringify(draft.description.trim()) : "null"}`,
    `"schema":${orNull(draft.schemaText)}`,
    `"example":${orNull(draft.exampleText)}`,
    `"validate":${String(draft.validate)}`,
  ];
  if (isNew) fields.unshift(`"name":${JSON.stringify(draft.name.trim())}`);
  return `{${fields.join(",")}}`;
}
