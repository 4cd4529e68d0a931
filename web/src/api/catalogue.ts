// The catalogue of event types, as a whole: forms and filters choose from it. Examples are kept as
// they were written: JSON.parse would change numbers.
import { useQuery } from "@tanstack/react-query";

import { elementTexts, indentJson, memberText } from "~/lib/json.ts";

import { api, body } from "./client.ts";
import type { EventTypeEntry, Page } from "./types.ts";

const pageSize = 250;
const pagesMax = 8;

/** An event type with the text of its example, indented; null: it has none. */
export interface CatalogueEntry extends EventTypeEntry {
  exampleText: string | null;
}

/** The entries of an answer of GET /v1/event-types. Pure. */
export function catalogueEntries(text: string): CatalogueEntry[] {
  const { data } = JSON.parse(text) as Page<EventTypeEntry>;
  const texts = elementTexts(memberText(text, "data") ?? "[]");
  return data.map((entry, index) => {
    const example = entry.example === null ? null : memberText(texts[index] ?? "", "example");
    return { ...entry, exampleText: example === null ? null : indentJson(example) };
  });
}

async function readCatalogue(): Promise<CatalogueEntry[]> {
  const entries: CatalogueEntry[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < pagesMax; ++pages) {
    const query = { archived: false, system: false, limit: pageSize, cursor };
    const text = await body(api.GET("/v1/event-types", { params: { query }, parseAs: "text" }));
    entries.push(...catalogueEntries(text));
    const { next_cursor } = JSON.parse(text) as Page<EventTypeEntry>;
    if (next_cursor === null) break;
    cursor = next_cursor;
  }
  return entries;
}

/** The event types that can be published, by name. */
export function useCatalogue() {
  return useQuery({ queryKey: ["catalogue"], queryFn: readCatalogue, staleTime: 60_000 });
}

/** The example of a type as text, or null if the catalogue has none. */
export const exampleText = (catalogue: CatalogueEntry[], type: string): string | null =>
  catalogue.find((each) => each.name === type)?.exampleText ?? null;
