import type { EventTypeEntry } from "~/api/types.ts";

/** The example of an event type as text, or null if the catalogue has none. Pure. */
export function exampleText(catalogue: EventTypeEntry[] | undefined, type: string): string | null {
  const entry = catalogue?.find((each) => each.name === type);
  if (!entry || entry.example === null || entry.example === undefined) return null;
  return JSON.stringify(entry.example, null, 2);
}
