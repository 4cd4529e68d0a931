import type { SentRequest } from "~/api/types.ts";

/** Quotes for a POSIX shell: nothing inside is interpreted. */
export const shellQuote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** A command that sends the same request again. */
export function toCurl(request: SentRequest): string {
  const lines = [`curl -X ${request.method} ${shellQuote(request.url)}`];
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.toLowerCase() !== "content-length")
      lines.push(`-H ${shellQuote(`${name}: ${value}`)}`);
  }
  if (request.body !== undefined) lines.push(`--data-binary ${shellQuote(request.body)}`);
  return lines.join(" \\\n  ");
}
