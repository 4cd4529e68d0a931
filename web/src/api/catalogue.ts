// The catalogue of event types, as a whole: forms and filters choose from it.
import { useQuery } from "@tanstack/react-query";

import { api, body } from "./client.ts";
import type { EventTypeEntry, Page } from "./types.ts";

const pageSize = 250;
const pagesMax = 8;

async function readCatalogue(): Promise<EventTypeEntry[]> {
  const entries: EventTypeEntry[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < pagesMax; ++pages) {
    const query = { archived: false, system: false, limit: pageSize, cursor };
    const page = (await body(
      api.GET("/v1/event-types", { params: { query } }),
    )) as Page<EventTypeEntry>;
    entries.push(...page.data);
    if (page.next_cursor === null) break;
    cursor = page.next_cursor;
  }
  return entries;
}

/** The event types that can be published, by name. */
export function useCatalogue() {
  return useQuery({ queryKey: ["catalogue"], queryFn: readCatalogue, staleTime: 60_000 });
}

/** The example of a type as text, or null if the catalogue has none. */
export function exampleText(catalogue: EventTypeEntry[], type: string): string | null {
  const example = catalogue.find((each) => each.name === type)?.example ?? null;
  return example === null ? null : JSON.stringify(example, null, 2);
}
