// Choosing event types from the catalogue, or by pattern. Pure.
import { groupOf, isPattern, patternMatches } from "~/lib/eventPattern.ts";

export interface TypeGroup {
  name: string;
  pattern: string; // Selects the whole group, also its future types.
  types: string[];
}

/** The types by their first word, in the order of the catalogue. */
export function groupTypes(types: string[]): TypeGroup[] {
  const groups = new Map<string, TypeGroup>();
  for (const type of types) {
    const name = groupOf(type);
    const group = groups.get(name) ?? { name, pattern: `${name}.*`, types: [] };
    group.types.push(type);
    groups.set(name, group);
  }
  return [...groups.values()];
}

export const matchedTypes = (pattern: string, types: string[]) =>
  types.filter((type) => patternMatches(pattern, type));

/** The pattern that selects the type already, other than its own name. */
export const coveredBy = (type: string, selected: string[]) =>
  selected.find((pattern) => pattern !== type && patternMatches(pattern, type));

/** Adds or removes a name or pattern. What a new pattern covers is removed. */
export function toggled(selected: string[], pattern: string): string[] {
  if (selected.includes(pattern)) return selected.filter((each) => each !== pattern);
  return [...selected.filter((each) => !patternMatches(pattern, each)), pattern];
}

const namesShown = 8;

/** What a typed name or pattern would select, in words. */
export function describePattern(pattern: string, types: string[]): string {
  if (pattern === "") return "";
  if (!isPattern(pattern)) return "Use a name (order.created), a pattern (order.*) or *.";
  const matched = matchedTypes(pattern, types);
  const future = pattern.endsWith("*") ? " Future types that match are included." : "";
  if (matched.length === 0) {
    return types.length === 0
      ? `The catalogue is empty.${future}`
      : `No type of the catalogue matches.${future}`;
  }
  const more = matched.length > namesShown ? ` and ${matched.length - namesShown} more` : "";
  return `Matches ${matched.length} of ${types.length}: ${matched.slice(0, namesShown).join(", ")}${more}.${future}`;
}

/** A type to show an example of: one of the catalogue that is selected, or one like a pattern. */
export function exampleType(selected: string[], types: string[]): string {
  const known = types.find((type) => selected.some((pattern) => patternMatches(pattern, type)));
  const first = selected[0];
  if (known) return known;
  if (first === undefined) return types[0] ?? "example.event";
  if (first === "*") return "example.event";
  return first.endsWith(".*") ? `${first.slice(0, -1)}example` : first;
}
