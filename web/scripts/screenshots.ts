// Writes the pictures of README and guide to docs/images: the real server with sample traffic.
import { mkdirSync, statSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { until } from "../tests/harness/server.ts";
import { openAs, settled, type Visitor } from "../tests/harness/visitors.ts";
import { makeWorld } from "../tests/harness/world.ts";

const target = path.resolve("../docs/images");
const bytesMax = 250_000;
const world = makeWorld();

const catalogue: [string, string, object][] = [
  ["order.created", "A customer has placed an order.", { order: "A-1042", total: 129.9 }],
  ["order.paid", "The payment of an order has arrived.", { order: "A-1042", method: "card" }],
  ["order.shipped", "An order has left the warehouse.", { order: "A-1042", carrier: "DHL" }],
  ["invoice.sent", "An invoice was sent.", { invoice: "R-2026-17", total: 129.9 }],
  ["user.created", "Somebody has signed up.", { user: "u_77", plan: "team" }],
  ["user.deleted", "An account was closed.", { user: "u_77" }],
  ["stock.low", "An article is nearly sold out.", { article: "4711", left: 3 }],
];

const receivers: [name: string, events: string[], reply: { status?: number; delayMs?: number }][] =
  [
    ["Warehouse", ["order.*", "stock.low"], { delayMs: 35 }],
    ["Accounting", ["order.paid", "invoice.sent"], { delayMs: 80 }],
    ["Data lake", ["*"], { delayMs: 5 }],
    ["Search index", ["user.*", "stock.low"], { delayMs: 20 }],
    ["Newsletter", ["user.created"], { status: 503 }],
    ["Old shop", ["order.created", "order.shipped"], { status: 404 }],
    ["Partner portal", ["order.shipped"], { delayMs: 400 }],
  ];

async function makeTraffic(): Promise<void> {
  const { server, receiver } = world;
  await server.call("POST", "/v1/tenants", { id: "acme", name: "Acme Ltd" });
  for (const [name, description, example] of catalogue) {
    await server.call("POST", "/v1/event-types", { name, description, example });
  }
  for (const [name, events, reply] of receivers) {
    for (const tenant_id of [undefined, "acme"]) {
      const url = receiver.on(`/${name.toLowerCase().replace(" ", "-")}`, reply);
      await server.call("POST", "/v1/webhooks", { name, url, events, tenant_id });
    }
  }
  for (let round = 0; round < 40; round += 1) {
    const events = catalogue.map(([type, , data], index) => ({
      type,
      data,
      resource_id: `order-${round}`,
      tenant_id: (round + index) % 3 === 0 ? "acme" : undefined,
    }));
    await server.call("POST", "/v1/events/batch", { events });
    await sleep(100);
  }
}

async function shoot(page: Page, name: string): Promise<void> {
  await settled(page);
  await page.evaluate(() => document.fonts.ready);
  await sleep(1_500); // Charts are drawn and live data has arrived.
  const file = path.join(target, `${name}.png`);
  await page.screenshot({ path: file });
  expect(statSync(file).size, `${name}.png in bytes`).toBeLessThan(bytesMax);
}

interface Items {
  data: { id: string; name: string; webhook_name: string }[];
}

test("screenshots", async () => {
  mkdirSync(target, { recursive: true });
  await makeTraffic();
  const { server } = world;
  const dead = await until("dead letters", async () => {
    const found = await server.call<Items>("GET", "/v1/deliveries?status=dead_letter");
    return found.data[0];
  });
  const hooks = await server.call<Items>("GET", "/v1/webhooks");
  const hook = hooks.data.find((each) => each.name === "Partner portal");
  const size = { width: 1280, height: 800 };
  const open = async (visitor: Visitor, dark = false, fields = {}) =>
    (await openAs(world, visitor, fields, { ...size, dark })).page;

  const page = await open({ operator: "admin" });
  const places: [string, string][] = [
    ["/", "overview"],
    ["/webhooks", "webhooks"],
    ["/webhooks/new", "create-webhook"],
    [`/webhooks/${hook?.id ?? ""}`, "webhook"],
    ["/deliveries", "deliveries"],
    [`/deliveries/${dead.id}`, "delivery"],
    ["/dead-letters", "dead-letters"],
  ];
  for (const [where, name] of places) {
    await page.goto(world.origin + where);
    await shoot(page, name);
  }
  const dark = await open({ operator: "admin" }, true);
  await shoot(dark, "overview-dark");
  const branding = { title: "Acme Webhooks", primary_color: "#0b7a5b" };
  const portal = await open({ tenant: "acme" }, false, { branding });
  await portal.goto(`${world.origin}/webhooks`);
  await shoot(portal, "portal");
});
