// What is wrong with a field that has several values. Pure.

/**
 * The message of the field or of one of its items. An item is named by its value: `x is not an
 * address` instead of `to[1] is not an address`.
 */
export function itemMessage(
  messages: Record<string, string>,
  field: string,
  items: string[] = [],
): string | undefined {
  const own = messages[field];
  if (own !== undefined) return own.charAt(0).toUpperCase() + own.slice(1);
  for (const [name, message] of Object.entries(messages)) {
    const index = name.startsWith(`${field}[`) ? Number(name.slice(field.length + 1, -1)) : NaN;
    if (!Number.isNaN(index)) return `${items[index] ?? name} ${message}`;
  }
  return undefined;
}
