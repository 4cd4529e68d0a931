import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { expectAccessible, openPage } from "./harness/browser.ts";
import { until } from "./harness/server.ts";
import { makeWorld } from "./harness/world.ts";

const world = makeWorld();
const hostile = '<script>alert("x")</script>';

/** Signs in by a link for another role than the operator's. */
async function visit(path: string, body: object): Promise<Page> {
  const { token } = await world.server.call<{ token: string }>("POST", path, body);
  const { page } = world;
  await page.context().clearCookies();
  await page.goto("about:blank");
  await page.goto(`${world.origin}/#token=${token}`);
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  return page;
}

const link = (page: Page, name: string) => page.getByRole("link", { name, exact: true });

/** The names of the webhooks in the list, when `name` is among them. */
async function listed(page: Page, name: string): Promise<string[]> {
  await link(page, name).waitFor();
  return page.locator("tbody tr td:first-child a").allTextContents();
}

test("an empty list says the next step", async () => {
  await world.goto("/webhooks");
  await world.page.getByText("There are no webhooks yet").waitFor();
  await expectAccessible(world.page);
});

test("the list shows state, circuit and events, and filters in the address bar", async () => {
  const { page } = world;
  await world.webhook("orders", 200, { events: ["order.*"] });
  await world.webhook("payments", 200, { events: ["payment.made"], tenant_id: "acme" });
  await world.webhook("off", 200, { active: false });
  await world.webhook("hostile", 200, { name: hostile, description: hostile });
  const held = await world.webhook("held");
  await world.server.call("POST", `/v1/webhooks/${held.id}/pause`, {});
  const broken = await world.webhook("broken");
  await world.server.call("PATCH", `/v1/webhooks/${broken.id}/circuit-breaker`, {
    action: "force_open",
  });

  await world.goto("/webhooks");
  expect(await listed(page, "orders")).toEqual(
    ["broken", "held", hostile, "off", "payments", "orders"], // Newest first.
  );
  const row = (name: string) => page.getByRole("row").filter({ has: link(page, name) });
  expect(await row("held").locator("[data-status=paused]").count()).toBe(1);
  expect(await row("off").locator("[data-status=inactive]").count()).toBe(1);
  expect(await row("broken").locator("[data-status=open]").count()).toBe(1);
  expect(await row("orders").getByText("order.*").count()).toBe(1);
  await expectAccessible(page);

  await page.getByRole("textbox", { name: "Search" }).fill("pay");
  await link(page, "orders").waitFor({ state: "detached" });
  expect(page.url()).toContain("q=pay");
  expect(await listed(page, "payments")).toEqual(["payments"]);
  await page.getByRole("textbox", { name: "Search" }).fill("");
  await page.getByRole("textbox", { name: "State" }).click();
  await page.getByRole("option", { name: "Paused" }).click();
  await link(page, "orders").waitFor({ state: "detached" });
  expect(await listed(page, "held")).toEqual(["held"]);
  expect(page.url()).toContain("status=paused");

  const filtered: [string, string, string[]][] = [
    ["status=disabled", "off", ["off"]],
    ["circuit=open", "broken", ["broken"]],
    ["event_type=order.paid&status=active", "orders", ["broken", hostile, "orders"]],
    ["tenant_id=acme", "payments", ["payments"]],
  ];
  for (const [query, name, names] of filtered) {
    await world.goto(`/webhooks?${query}`);
    expect([query, await listed(page, name)]).toEqual([query, names]);
  }
  await world.goto("/webhooks?circuit=half_open");
  await page.getByText("No webhook matches").waitFor();
});

test("success rate and response time of each webhook, worst first", async () => {
  const failing = await world.webhook("failing", 500, {
    events: ["ranked"],
    retry_config: { max_attempts: 1 },
  });
  await world.webhook("working", 200, { events: ["ranked"] });
  for (let index = 0; index < 3; ++index) await world.publish("ranked", { index });
  interface Ranked {
    webhooks: { data: { webhook_id: string; deliveries_failed: number }[] };
  }
  await until("the statistics", async () => {
    const { webhooks } = await world.server.call<Ranked>("GET", "/v1/stats?period=24h&sort=worst");
    const worst = webhooks.data[0];
    return worst?.webhook_id === failing.id && worst.deliveries_failed === 3;
  });

  const { page, problems } = await openPage(world.browser, { dark: true });
  await page.context().addCookies(await world.page.context().cookies());
  await page.goto(`${world.origin}/webhooks`);
  await link(page, "working").waitFor();
  await page.getByRole("button", { name: "Worst first" }).click();
  await page.getByRole("columnheader", { name: "Response time (p95)" }).waitFor();
  expect(page.url()).toContain("sort=worst");
  const row = page.locator("tbody tr");
  await until("the worst webhook on top", async () =>
    (await row.first().textContent())?.includes("failing"),
  );
  await row.first().getByText("0 %", { exact: true }).waitFor();
  await row
    .first()
    .getByText(/^[\d.]+ m?s$/)
    .waitFor();
  await row.first().getByRole("img", { name: "0 succeeded, 3 failed in 24 hours" }).waitFor();
  const working = row.filter({ has: link(page, "working") });
  await working.getByText("100 %", { exact: true }).waitFor();
  await expectAccessible(page);
  await page.context().close();
  expect(problems).toEqual([]);
});

test("a viewer can look but not create", async () => {
  const page = await visit("/v1/sign-in-links", { role: "viewer" });
  await world.goto("/webhooks");
  await link(page, "orders").waitFor();
  expect(await link(page, "Create webhook").count()).toBe(0);
  await world.goto("/webhooks/new");
  await page.getByText("There is no such page").waitFor();
});

test("a tenant sees and creates only its own webhooks", async () => {
  const page = await visit("/v1/portal-links", { tenant_id: "acme" });
  await world.goto("/webhooks");
  expect(await listed(page, "payments")).toEqual(["payments"]);
  expect(await page.getByRole("columnheader", { name: "Tenant" }).count()).toBe(0);
  expect(await page.getByRole("textbox", { name: "Tenant" }).count()).toBe(0);
  await link(page, "Create webhook").click();
  const url = page.getByRole("textbox", { name: "URL", exact: true });
  await url.fill(world.receiver.on("/portal"));
  expect(await page.getByRole("textbox", { name: "Tenant" }).count()).toBe(0);
  await page.getByRole("checkbox", { name: "All events" }).check();
  await page.getByRole("button", { name: "Create webhook" }).click();
  await page.getByText("Copy the secret now").waitFor();
  const { data } = await world.server.call<{ data: { url: string; tenant_id: string }[] }>(
    "GET",
    "/v1/webhooks?q=/portal",
  );
  expect(data.map((hook) => hook.tenant_id)).toEqual(["acme"]);
});
