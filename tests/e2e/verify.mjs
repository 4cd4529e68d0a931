// Verifies requests with somebody else's library: `standardwebhooks` (the reference) or `svix`.
// Reads a JSON list of {secret, headers, body} on stdin, writes a JSON list of null (verified) or
// the error's text.
import { readFileSync } from "node:fs";

const { Webhook } = await import(process.argv[2] ?? "standardwebhooks");
const verdicts = JSON.parse(readFileSync(0, "utf8")).map(({ secret, headers, body }) => {
  try {
    new Webhook(secret).verify(body, headers);
    return null;
  } catch (error) {
    return String(error);
  }
});
process.stdout.write(JSON.stringify(verdicts));
