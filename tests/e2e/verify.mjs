// Verifies requests with the reference library of Standard Webhooks. Reads a JSON list of
// {secret, headers, body} on stdin, writes a JSON list of null (verified) or the error's text.
import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";

const verdicts = JSON.parse(readFileSync(0, "utf8")).map(({ secret, headers, body }) => {
  try {
    new Webhook(secret).verify(body, headers);
    return null;
  } catch (error) {
    return String(error);
  }
});
process.stdout.write(JSON.stringify(verdicts));
