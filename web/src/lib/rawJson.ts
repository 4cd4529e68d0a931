// Writes JSON that contains JSON as it was typed. See json.ts. Pure.

export class RawJson {
  constructor(readonly text: string) {}
}

/** Like JSON.stringify, but writes RawJson as its text. */
export function writeJson(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) {
    return `[${value.map((each) => (each === undefined ? "null" : writeJson(each))).join(",")}]`;
  }
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => `${JSON.stringify(name)}:${writeJson(member)}`);
    return `{${members.join(",")}}`;
  }
  return JSON.stringify(value);
}
