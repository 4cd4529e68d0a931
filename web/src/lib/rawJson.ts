// JSON that a visitor typed is sent as it was typed: JavaScript would turn 1.50 into 1.5 and round
// large numbers. Pure.

export class RawJson {
  constructor(readonly text: string) {}
}

/** Why the text is not JSON, or null if it is. */
export function jsonProblem(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
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
