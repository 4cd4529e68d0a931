// Pure parts of the test send.

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
