// Event types and the patterns that select them, as the server understands them
// (src/core/filter/event_pattern.cc). Pure.

const lengthMax = 256;
const name = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/;

export const isEventType = (text: string) => text.length <= lengthMax && name.test(text);

/** A name (`order.paid`), all names with a prefix (`order.*`), or all (`*`). */
export function isPattern(text: string): boolean {
  if (text.length > lengthMax) return false;
  return text === "*" || name.test(text.endsWith(".*") ? text.slice(0, -2) : text);
}

/** `order.*` needs at least one character after `order.`. */
export function patternMatches(pattern: string, type: string): boolean {
  if (pattern === "*") return true;
  if (!pattern.endsWith(".*")) return pattern === type;
  const prefix = pattern.slice(0, -1);
  return type.length > prefix.length && type.startsWith(prefix);
}

/** The part of a name that its group shares: `order` of `order.paid`. */
export const groupOf = (type: string) => type.split(".", 1)[0] ?? type;
