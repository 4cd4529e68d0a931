import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { expectAccessible, openPage, signIn } from "./harness/browser.ts";
import { until } from "./harness/server.ts";
import { makeWorld } from "./harness/world.ts";

const world = makeWorld();

interface List {
  data: { id: string; status: string; event_type: string; webhook_name: string | null }[];
}

const deliveries = (query = "") => world.server.call<List>("GET", `/v1/deliveries?${query}`);

const settled = (query: string, count: number) =>
  until(`${count} deliveries with ${query}`, async () => {
    return (await deliveries(query)).data.length >= count;
  });

const row = (text: string) => world.page.getByRole("row").filter({ hasText: text });

test("an empty list says the next step", async () => {
  await world.goto("/deliveries");
  await world.page.getByText("There are no deliveries yet").waitFor();
  await expectAccessible(world.page);
});

test("deliveries with badge, n / max, last attempt, retry on dead letters", async () => {
  const { page } = world;
  const fields = { retry_config: { max_attempts: 4 } };
  await world.webhook("shop", 200, { events: ["shop.*"] });
  await world.webhook("broken", 404, { events: ["broken.*"], ...fields });
  await world.webhook("slow", 503, { events: ["slow.*"], ...fields });
  const paused = await world.webhook("paused", 200, { events: ["paused.*"] });
  await world.server.call("POST", `/v1/webhooks/${paused.id}/pause`, {});
  for (const type of ["shop.sold", "broken.one", "slow.one", "paused.one"])
    await world.publish(type);
  await settled("status=dead_letter", 1);
  await settled("status=succeeded", 1);
  await settled("status=retrying", 1);

  await world.goto("/deliveries");
  await page.getByRole("heading", { name: "Deliveries" }).waitFor();
  const dead = row("broken.one");
  await dead.locator("[data-status=dead_letter]").waitFor();
  expect(await dead.textContent()).toContain("1 / 4");
  expect(await dead.textContent()).toContain("404 client error");
  expect(await dead.locator("time").count()).toBe(1);
  expect(await row("slow.one").textContent()).toMatch(/Next retry.*in \d+ s/);
  expect(await row("paused.one").textContent()).toContain("Webhook paused");
  expect(await row("shop.sold").textContent()).toContain("200");
  expect(await row("shop.sold").getByRole("button").count()).toBe(0);
  expect(await row("slow.one").getByRole("button", { name: "Retry slow.one" }).count()).toBe(1);
  await expectAccessible(page);

  world.receiver.on("/broken", { status: 200 });
  await dead.getByRole("button", { name: "Retry broken.one" }).click();
  await dead.locator("[data-status=succeeded]").waitFor();
});

test("filters live in the address bar and reach the server", async () => {
  const { page } = world;
  await world.goto("/deliveries");
  await page.getByRole("textbox", { name: "Event type" }).fill("slow.*");
  await row("shop.sold").waitFor({ state: "detached" });
  expect(page.url()).toContain("event_type=slow");
  await page.getByRole("textbox", { name: "Event type" }).fill("");
  await row("shop.sold").waitFor();

  await page.getByRole("textbox", { name: "Status" }).click();
  await page.getByRole("option", { name: "Succeeded" }).click();
  await row("slow.one").waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await page.getByRole("textbox", { name: "Webhook" }).click();
  await page.getByRole("option", { name: "shop" }).click();
  await row("broken.one").waitFor({ state: "detached" });
  await page.getByRole("textbox", { name: "Time" }).click();
  await page.getByRole("option", { name: "Last hour" }).click();
  expect(page.url()).toMatch(/status=succeeded.*webhook_id=whk_.*range=1h/);
  await row("shop.sold").waitFor();

  await page.reload(); // A shared link shows the same.
  await row("shop.sold").waitFor();
  expect(await page.getByRole("textbox", { name: "Webhook" }).inputValue()).toBe("shop");
  expect(await page.locator("tbody tr").count()).toBe(1);
  await page.goBack();
  await page.waitForURL((url) => !url.search.includes("range"));
  await world.goto("/deliveries?tenant_id=nobody");
  await page.getByText("No delivery matches").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await row("shop.sold").waitFor();
  expect(new URL(page.url()).search).toBe("");
});

test("what is shown is exported as CSV and JSON", async () => {
  const { page } = world;
  await world.goto("/deliveries?event_type=slow.one,paused.one");
  await row("slow.one").waitFor();
  const download = async (format: string) => {
    await page.getByRole("button", { name: "Columns and export" }).click();
    const file = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: format }).click();
    return readFileSync(await (await file).path(), "utf8");
  };
  const lines = (await download("CSV")).trim().split("\r\n");
  expect(lines[0]).toBe("Status,Event type,Webhook,Attempts,Last attempt,Result,Duration,Next");
  expect(lines).toHaveLength(3);
  expect(lines.find((line) => line.includes("slow.one"))).toMatch(
    /^retrying,slow\.one,slow,\d+ \/ 4,20.*,503 server error,/,
  );
  const exported = JSON.parse(await download("JSON")) as List["data"];
  expect(exported.map((each) => each.event_type).sort()).toEqual(["paused.one", "slow.one"]);
});

test("the live tail shows a new delivery before its first attempt", async () => {
  const { page } = world;
  await world.goto("/deliveries?event_type=paused.*");
  await page.locator("[data-stream=live]").waitFor();
  await row("paused.one").waitFor();
  await world.publish("paused.two");
  // Much sooner than the list would be read again without the stream.
  await row("paused.two").locator("[data-status=pending]").waitFor({ timeout: 8_000 });
  expect(await row("paused.two").textContent()).toContain("0 / ");
});

test("the live tail shows a new delivery without reload, and moves nothing under a reader", async () => {
  const { page } = world;
  for (let index = 0; index < 60; index++) await world.publish("shop.sold", { index });
  await settled("event_type=shop.sold&status=succeeded&limit=100", 61);
  await world.goto("/deliveries");
  await page.locator("[data-stream=live]").waitFor();
  await world.publish("shop.fresh");
  await row("shop.fresh").locator("[data-status=succeeded]").waitFor();
  expect(await page.locator("tbody tr").count()).toBe(50); // Never more than a page.

  await page.mouse.wheel(0, 600);
  await page.waitForFunction(() => window.scrollY > 100);
  const newest = page.locator("tbody tr").first().getByRole("link").first();
  const first = await newest.getAttribute("href");
  await world.publish("shop.unseen");
  await page.getByRole("button", { name: "1 new" }).waitFor();
  expect(await newest.getAttribute("href")).toBe(first);
  await expectAccessible(page);
  await page.getByRole("button", { name: "1 new" }).click();
  await row("shop.unseen").waitFor();

  await page.getByRole("button", { name: "Next page" }).click();
  await row("shop.unseen").waitFor({ state: "detached" });
  await world.publish("shop.later");
  await page.getByRole("button", { name: "1 new" }).click();
  await row("shop.later").waitFor();
  expect(page.url()).not.toContain("cursor");

  await page.getByRole("switch", { name: "Live tail" }).click();
  await page.waitForURL(/live=off/);
  expect(await page.locator("[data-stream]").count()).toBe(0);
});

test("rows stay under the pointer and under the keyboard focus", async () => {
  const { page } = world;
  await world.goto("/deliveries");
  await page.locator("[data-stream=live]").waitFor();
  const newest = page.locator("tbody tr").first().getByRole("link").first();
  const arrives = async (type: string) => {
    const first = await newest.getAttribute("href");
    await world.publish(type);
    await page.getByRole("button", { name: "1 new" }).waitFor();
    expect(await newest.getAttribute("href")).toBe(first);
    await page.getByRole("button", { name: "1 new" }).click();
    await row(type).waitFor();
  };
  await newest.hover();
  await arrives("shop.pointed");
  await page.mouse.move(5, 5);
  await newest.focus();
  await arrives("shop.focused");
});

test("selecting text in a row does not open it", async () => {
  const { page } = world;
  await world.goto("/deliveries?event_type=paused.one");
  const cell = row("paused.one").getByText("Webhook paused");
  const box = await cell.boundingBox();
  if (!box) throw new Error("The cell has no place.");
  await page.mouse.move(box.x + 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + 60, box.y + box.height / 2, { steps: 5 });
  await page.mouse.up();
  expect(await page.evaluate(() => getSelection()?.toString())).not.toBe("");
  expect(page.url()).toContain("/deliveries?");
  await cell.click();
  await page.waitForURL("**/deliveries/dlv_*");
  await page.waitForFunction(() => document.title === "paused.one · Deliveries · Postrider");
});

test("the stream reconnects after a restart of the server, and the page catches up", async () => {
  const { page, watched } = world;
  watched.expectProblem(/stream|ERR_|50\d/);
  await world.goto("/deliveries");
  await page.locator("[data-stream=live]").waitFor();
  await world.server.stop();
  await page.locator("[data-stream=interrupted]").waitFor();
  await world.server.start();
  await world.publish("shop.after");
  await page.locator("[data-stream=live]").waitFor();
  await row("shop.after").locator("[data-status=succeeded]").waitFor();
});

test("hostile names and event types are text, in dark and on a phone", async () => {
  const name = "<img src=x onerror=alert(1)>";
  const url = world.receiver.on("/hostile", { status: 500, body: "<script>alert(2)</script>" });
  await world.server.call("POST", "/v1/webhooks", { url, events: ["hostile.*"], name });
  await world.publish("hostile.one");
  await settled("event_type=hostile.*&status=retrying", 1);
  const watched = await openPage(world.browser, { dark: true, width: 390, height: 800 });
  await signIn(watched.page, world.server, world.origin);
  await watched.page.goto(`${world.origin}/deliveries?event_type=hostile.*`);
  await watched.page.getByRole("link", { name }).waitFor();
  await expectAccessible(watched.page);
  const width = await watched.page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBeLessThanOrEqual(390);
  await watched.page.context().close();
  expect(watched.problems).toEqual([]);
});

// The pages of a development server are always signed in as an operator.
test.skipIf(process.env["POSTRIDER_DEV_PAGES"])(
  "a viewer gets no buttons, and a tenant sees nothing of others",
  async () => {
    await world.webhook("acme-hook", 404, { events: ["acme.*"], tenant_id: "acme" });
    await world.publish("acme.one", {}, { tenant_id: "acme" });
    await settled("event_type=acme.one&status=dead_letter", 1);
    const visit = async (endpoint: string, fields: object) => {
      const watched = await openPage(world.browser);
      const { url } = await world.server.call<{ url: string }>("POST", endpoint, fields);
      await watched.page.goto(world.origin + "/" + new URL(url).hash);
      await watched.page.getByRole("navigation", { name: "Pages" }).waitFor();
      return watched;
    };

    const viewer = await visit("/v1/sign-in-links", { role: "viewer" });
    await viewer.page.goto(`${world.origin}/deliveries?event_type=acme.one`);
    await viewer.page.getByRole("link", { name: "acme.one" }).click();
    await viewer.page.getByRole("heading", { name: "Attempts" }).waitFor();
    expect(await viewer.page.getByRole("button", { name: "Retry" }).count()).toBe(0);
    await viewer.page.goto(`${world.origin}/dead-letters`);
    await viewer.page.getByRole("link", { name: "acme.one" }).waitFor();
    expect(await viewer.page.getByRole("button", { name: /Retry|Discard/ }).count()).toBe(0);
    expect(await viewer.page.getByRole("checkbox").count()).toBe(0);

    const portal = await visit("/v1/portal-links", { tenant_id: "acme", role: "admin" });
    await portal.page.goto(`${world.origin}/deliveries`);
    await portal.page.getByRole("link", { name: "acme.one" }).waitFor();
    expect(await portal.page.locator("tbody tr").count()).toBe(1);
    expect(await portal.page.getByRole("textbox", { name: "Tenant" }).count()).toBe(0);
    expect(await portal.page.getByRole("button", { name: "Retry acme.one" }).count()).toBe(1);
    await expectAccessible(portal.page);
    for (const { page, problems } of [viewer, portal]) {
      await page.context().close();
      expect(problems).toEqual([]);
    }
  },
);
