// Stores an order and the event that says so in one PostgreSQL transaction.
//
//   DATABASE_URL=postgres://... node shop.mjs ORDER TOTAL [fail]
//
// Needs the outbox table (`postrider outbox init`) and
//   CREATE TABLE orders (id text PRIMARY KEY, total numeric NOT NULL);
// With `fail` the transaction is rolled back: neither the order nor the event exists then.
import pg from "pg";

async function placeOrder(client, order, total, fail) {
  await client.query("BEGIN");
  // First the order, then its event: so the events of one order are in order.
  await client.query("INSERT INTO orders (id, total) VALUES ($1, $2)", [order, total]);
  const data = JSON.stringify({ order, total: Number(total) });
  const { rows } = await client.query(
    "SELECT postrider_emit($1, $2, resource_id => $3, source => 'shop') AS id",
    ["order.placed", data, order],
  );
  await client.query(fail ? "ROLLBACK" : "COMMIT");
  console.log(fail ? "rolled back" : "committed", rows[0].id);
}

const [order, total, mode] = process.argv.slice(2);
if (total === undefined) {
  console.error("usage: DATABASE_URL=postgres://... node shop.mjs ORDER TOTAL [fail]");
  process.exit(2);
}
const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
await client.connect();
try {
  await placeOrder(client, order, total, mode === "fail");
} finally {
  await client.end();
}
