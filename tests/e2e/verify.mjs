// Verifies requests with an independent library: `standardwebhooks` (the reference) or `svix`.
// Reads a JSON list of {secret, headers, body} from stdin. Writes a JSON list with null for each
// verified request and the error text for the others.
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
