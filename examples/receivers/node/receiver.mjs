// A webhook receiver in Node.js (18 or later). Verifies each request before using its content.
//
//   npm install
//   SECRET=whsec_... PORT=9000 node receiver.mjs
import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const { SECRET, PORT = "9000" } = process.env;
if (!SECRET) {
  console.error("Set SECRET to the webhook's secret (whsec_...).");
  process.exit(2);
}
const webhook = new Webhook(SECRET);
// Delivery is at least once: a known id is a repeat. A real receiver stores the ids in a database.
const seen = new Set();

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString("utf8"); // As received, not re-serialised.
  try {
    const event = webhook.verify(body, request.headers);
    const id = request.headers["webhook-id"];
    console.log(`${seen.has(id) ? "repeat" : "event"}: ${JSON.stringify(event)}`);
    seen.add(id);
    response.writeHead(204).end();
  } catch (error) {
    console.log(`refused: ${error.message}`);
    response.writeHead(401).end();
  }
});
server.listen(Number(PORT), "127.0.0.1", () => {
  console.log(`listening on 127.0.0.1:${server.address().port}`);
});
