// Pure parts of the test send.

/** Why the text is not JSON, or null. An empty text is allowed: the server has its own example. */
export function jsonProblem(text: string): string | null {
  if (text.trim() === "") return null;
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return `This is not valid JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/**
 * The body of POST /v1/webhooks/{id}/test. The data is kept byte for byte, because JavaScript would
 * change large numbers.
 */
export function testBody(eventType: string, data: string): string {
  const parts: string[] = [];
  if (eventType.trim()) parts.push(`"event_type":${JSON.stringify(eventType.trim())}`);
  if (data.trim()) parts.push(`"data":${data}`);
  return `{${parts.join(",")}}`;
}

export const exampleText = (example: unknown) =>
  example === null || example === undefined ? "" : JSON.stringify(example, null, 2);
