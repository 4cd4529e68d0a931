// Filters live in the address bar, so that a view can be shared, bookmarked and left with "back".
import { useCallback, useMemo } from "react";
import { useLocation, useSearch } from "wouter";

export type Filters<Name extends string> = Partial<Record<Name, string>>;

/** Keeps the named parameters only; empty ones count as absent. Pure. */
export function readFilters<Name extends string>(search: string, names: readonly Name[]) {
  const parameters = new URLSearchParams(search);
  const filters: Filters<Name> = {};
  for (const name of names) {
    const value = parameters.get(name);
    if (value) filters[name] = value;
  }
  return filters;
}

/** The search part after a change. A change of a filter leads back to the first page. Pure. */
export function changedSearch(search: string, change: Record<string, string | null>): string {
  const parameters = new URLSearchParams(search);
  if (!("cursor" in change)) parameters.delete("cursor");
  for (const [name, value] of Object.entries(change)) {
    if (value) parameters.set(name, value);
    else parameters.delete(name);
  }
  return parameters.toString();
}

/** The change that removes every filter but those to keep, and the place in the list. Pure. */
export function clearedFilters(
  filters: Partial<Record<string, string>>,
  keep: string[] = [],
): Record<string, null> {
  const names = [...Object.keys(filters), "cursor"].filter((name) => !keep.includes(name));
  return Object.fromEntries(names.map((name) => [name, null]));
}

export function useFilters<Name extends string>(names: readonly Name[]) {
  const search = useSearch();
  const [path, navigate] = useLocation();
  const key = names.join(",");
  const filters = useMemo(() => readFilters(search, key.split(",") as Name[]), [search, key]);
  const change = useCallback(
    (changes: Partial<Record<Name | "cursor", string | null>>, replace = false) => {
      const next = changedSearch(search, changes as Record<string, string | null>);
      navigate(next ? `${path}?${next}` : path, { replace });
    },
    [search, path, navigate],
  );
  return [filters, change] as const;
}
