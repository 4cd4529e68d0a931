import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { expectAccessible, openPage, signIn } from "./harness/browser.ts";
import { until } from "./harness/server.ts";
import { makeWorld } from "./harness/world.ts";

const world = makeWorld();

interface Hook {
  paused: boolean;
  active: boolean;
  circuit: { state: string; forced: string | null } | null;
}
interface List {
  data: { id: string; status: string }[];
}

const read = (id: string) => world.server.call<Hook>("GET", `/v1/webhooks/${id}`);
const deliveries = async (id: string, status: string) =>
  (await world.server.call<List>("GET", `/v1/webhooks/${id}/deliveries?status=${status}`)).data;
const receivedAt = (path: string) => world.receiver.received.filter((each) => each.path === path);
const button = (name: string) => world.page.getByRole("button", { name, exact: true });
const open = async (id: string, tab = "") => {
  await world.goto(`/webhooks/${id}${tab ? `?tab=${tab}` : ""}`);
  await world.page.getByRole("tab", { selected: true }).waitFor();
};

async function expectNoOverflow(page: Page): Promise<void> {
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow).toBe(0);
}

test("charts, errors and the latest deliveries follow the traffic", async () => {
  const { page } = world;
  const { id } = await world.webhook("mixed", 400, { retry_config: { max_attempts: 1 } });
  await open(id);
  await page.locator("[data-stream=live]").waitFor();
  await page.getByText("No attempt has failed.").waitFor();
  await world.publish("order.paid");
  await page
    .getByRole("list", { name: "Failed attempts by category" })
    .getByText("client error")
    .waitFor();
  await page.getByRole("img", { name: /1 attempts, 0 succeeded, 1 failed/ }).waitFor();
  await page.getByRole("group", { name: "Dead letters" }).getByText("1", { exact: true }).waitFor();
  await page
    .getByRole("group", { name: /last 7 days/ })
    .getByText("0 %")
    .waitFor();
  await page.getByText("7d", { exact: true }).click();
  await page.waitForURL(/range=7d/);
  await expectAccessible(page);

  await page.getByRole("tab", { name: "Deliveries" }).click();
  await page.waitForURL(/tab=deliveries/);
  const row = page.getByRole("row").nth(1);
  await row.getByRole("link", { name: "order.paid" }).waitFor();
  await row.getByText("1 / 1").waitFor();
  await row.getByText("dead letter").waitFor();
  const all = page.getByRole("link", { name: "All deliveries, with filters" });
  expect(await all.getAttribute("href")).toBe(`/deliveries?webhook_id=${id}`);
});

test("pausing holds deliveries, resuming sends them", async () => {
  const { page } = world;
  const { id } = await world.webhook("held");
  await open(id);
  await button("Pause").click();
  await page.locator("[data-status=paused]").waitFor();
  await world.publish("order.paid");
  await until("a waiting delivery", async () => (await deliveries(id, "pending")).length === 1);
  expect(receivedAt("/held")).toHaveLength(0);
  await button("Resume").click();
  await page.locator("[data-status=active]").waitFor();
  await until("the delivery", () => receivedAt("/held").length === 1);
});

test("a circuit is forced open, tells its history and is reset", async () => {
  const { page } = world;
  const { id } = await world.webhook("switched");
  await open(id, "circuit");
  await page.getByText("The circuit was never open").waitFor();
  await button("Force open").click();
  await page.getByRole("dialog").getByText("Nothing is sent").waitFor();
  await expectAccessible(page);
  await page.getByRole("dialog").getByRole("button", { name: "Force open" }).click();
  await page.getByText("The circuit is forced open. Nothing is sent").waitFor();
  expect((await read(id)).circuit).toMatchObject({ state: "open", forced: "open" });
  const history = page.getByRole("table", { name: /circuit was open/ });
  await history.getByText("Forced by hand").waitFor();
  await history.getByText("still open").waitFor();
  await expectAccessible(page);

  await page.getByRole("tab", { name: "Test send" }).click();
  await page.getByText("The circuit is open. Reset it to send a test.").waitFor();
  expect(await button("Send test").isDisabled()).toBe(true);
  await page.goBack();

  await button("Reset").click();
  await page.getByRole("dialog").getByRole("button", { name: "Reset circuit" }).click();
  await page.getByText("Deliveries are sent as they come.").waitFor();
  expect((await read(id)).circuit).toMatchObject({ state: "closed", forced: null });
  await history.getByText("still open").waitFor({ state: "detached" });
});

test("a test send shows the answer, good or bad, as text", async () => {
  const { page } = world;
  const hostile = "<img src=x onerror=alert(1)><script>alert(2)</script>";
  await world.server.call("POST", "/v1/event-types", {
    name: "order.tested",
    example: { order: 7 },
  });
  const { id } = await world.webhook("tested");
  world.receiver.on("/tested", { body: hostile, headers: { "x-note": hostile } });
  await open(id, "test");
  await page.getByRole("textbox", { name: "Event type" }).fill("order.tested");
  const data = page.getByRole("textbox", { name: "Data" });
  await until("the example", async () => (await data.inputValue()).includes('"order": 7'));
  await data.fill("{not json");
  await page.getByText("Line 1, column 2: A name in double quotes is missing.").waitFor();
  expect(await button("Send test").isDisabled()).toBe(true);
  await data.fill('{"n": 12345678901234567890}');
  await button("Send test").click();
  const answer = page.getByRole("region", { name: "Answer" });
  await answer.locator("[data-status=succeeded]").waitFor();
  await answer.getByText("200", { exact: true }).waitFor();
  await answer.getByText(/(connect .*|connection reused) · first byte/).waitFor();
  expect(await answer.getByRole("region", { name: "response body" }).innerText()).toBe(hostile);
  expect(await answer.getByRole("region", { name: "response headers" }).innerText()).toContain(
    hostile,
  );
  expect(receivedAt("/tested")[0]?.body).toContain('"data":{"n": 12345678901234567890}');
  expect(receivedAt("/tested")[0]?.body).toContain("order.tested");
  await expectAccessible(page);

  world.receiver.on("/tested", { status: 500, body: "out of order" });
  await button("Send test").click();
  await answer.locator("[data-status=failed]").waitFor();
  await answer.getByText("500", { exact: true }).waitFor();
  await answer.getByText(/^server error: /).waitFor();
});

test("the secret is revealed, hidden and rotated with a countdown", async () => {
  const { page } = world;
  const { id } = await world.webhook("secretive");
  const { secret } = await world.server.call<{ secret: string }>(
    "GET",
    `/v1/webhooks/${id}/secret`,
  );
  await open(id, "secret");
  expect(await page.content()).not.toContain(secret);
  await button("Reveal").click();
  await page.getByText(secret, { exact: true }).waitFor();
  await page.getByText("No old secret is in use.").waitFor();
  await button("Copy the secret").click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret);
  await button("Hide").click();
  await page.getByText(secret).waitFor({ state: "detached" });

  await button("Rotate secret").click();
  await page.getByRole("dialog").getByText("both secrets during the grace period").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Rotate secret" }).click();
  await page.getByText("This is the new secret").waitFor();
  const shown = await page.getByTestId("secret").innerText();
  expect(shown).not.toBe(secret);
  expect(
    await world.server.call<{ secret: string }>("GET", `/v1/webhooks/${id}/secret`),
  ).toMatchObject({ secret: shown });
  await page.getByRole("list", { name: "Old secrets" }).getByRole("timer").waitFor();
  await expectAccessible(page);
});

test("the snippets follow the scheme and have no secret", async () => {
  const { page } = world;
  const { id } = await world.webhook("verified", 200, {
    signature: { scheme: "sha256-body", header_prefix: "X-Acme-" },
  });
  await open(id, "verify");
  await page.getByRole("region", { name: "How to verify in Node.js" }).waitFor();
  await page.getByText("Ruby", { exact: true }).click();
  await page.waitForURL(/language=ruby/);
  const code = page.getByRole("region", { name: "How to verify in Ruby" });
  expect(await code.innerText()).toContain("x-acme-signature-next");
  await button("Copy").click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied.trim()).toBe((await code.innerText()).trim());
  await expectAccessible(page);
});

test("a replay sends again exactly what was counted", async () => {
  const { page } = world;
  const { id } = await world.webhook("replayed", 400, { retry_config: { max_attempts: 1 } });
  // Types of its own: a replay also sends the events of before the webhook was created.
  for (const type of ["parcel.sent", "parcel.sent", "user.created"]) await world.publish(type);
  await until("dead letters", async () => (await deliveries(id, "dead_letter")).length === 3);
  world.receiver.on("/replayed", { status: 200 });
  const before = receivedAt("/replayed").length;

  await open(id, "replay");
  await page.getByRole("textbox", { name: "Event types" }).fill("parcel.*");
  await page.keyboard.press("Enter");
  await button("Count").click();
  await page.getByText("2 deliveries would be sent.").waitFor();
  expect(await deliveries(id, "dead_letter")).toHaveLength(3);
  await page.getByRole("checkbox", { name: "cancelled" }).click();
  await page.getByText("2 deliveries would be sent.").waitFor({ state: "detached" });
  await button("Count").click();
  await button("Replay 2 deliveries").click();
  await page.waitForURL(/operation=opr_/);
  const progress = page.getByRole("region", { name: "Progress of the replay" });
  await progress.locator("[data-status=completed]").waitFor();
  await progress.getByText(/2 sent again · 2 succeeded · 0 waiting/).waitFor();
  expect(receivedAt("/replayed")).toHaveLength(before + 2);
  expect(await deliveries(id, "dead_letter")).toHaveLength(1);
  await expectAccessible(page);
});

test("a disabled webhook says why, and is activated again", async () => {
  const { page } = world;
  const { id } = await world.webhook("gone", 410);
  await world.publish("order.paid");
  await until("the webhook to be disabled", async () => !(await read(id)).active);
  await open(id);
  await page.getByText("The server has disabled this webhook").waitFor();
  await expectAccessible(page);
  world.receiver.on("/gone", { status: 200 });
  await button("Activate").click();
  await page.locator("[data-status=active]").waitFor();
  const replay = page.getByRole("link", { name: "Replay what happened meanwhile" });
  await replay.click();
  await page.waitForURL(/tab=replay&since=/);
  await page.getByLabel("Published from").waitFor();
});

test("the configuration shows effective values, and deleting tells what is lost", async () => {
  const { page } = world;
  const { id } = await world.webhook("doomed", 200, { rate_limit: { requests_per_minute: 30 } });
  await world.server.call("POST", `/v1/webhooks/${id}/pause`);
  await world.publish("order.paid");
  await world.publish("order.paid");
  await open(id, "configuration");
  const part = page.getByRole("region", { name: "Delivery" });
  await part.getByText(/^30 \/ min, bursts of /).waitFor();
  const edit = page.getByRole("link", { name: "Edit configuration" });
  expect(await edit.getAttribute("href")).toBe(`/webhooks/${id}/edit`);
  await expectAccessible(page);

  await button("Delete").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("2 waiting deliveries are cancelled.").waitFor();
  await dialog.getByText("stay in the history").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  expect((await read(id)).paused).toBe(true);
  await button("Delete").click();
  await page.getByRole("button", { name: "Delete webhook" }).click();
  await page.waitForURL(/\/webhooks$/);
  expect(await deliveries(id, "cancelled")).toHaveLength(2);

  world.watched.expectProblem(/404/);
  await world.goto(`/webhooks/${id}`);
  await page.getByText("There is no such webhook").waitFor();
  await page.getByRole("link", { name: "Show its deliveries" }).waitFor();
});

test("a viewer in the dark on a phone sees everything and can change nothing", async () => {
  const hostile = `<img src=x onerror=alert(1)>${"x".repeat(80)}`;
  const { id } = await world.webhook("looked-at", 200, { name: hostile, description: hostile });
  const watched = await openPage(world.browser, { dark: true, width: 390 });
  const { page } = watched;
  await signIn(page, world.server, world.origin, "viewer");
  await page.goto(`${world.origin}/webhooks/${id}?tab=secret`);
  await page.getByRole("heading", { level: 1, name: hostile }).waitFor();
  await page.getByRole("tab", { name: "Overview", selected: true }).waitFor();
  expect(await page.getByRole("tab", { name: /Secret|Test send|Replay/ }).count()).toBe(0);
  for (const tab of ["Overview", "Deliveries", "Circuit", "Verify", "Configuration"]) {
    await page.getByRole("tab", { name: tab }).click();
    await page.getByRole("tabpanel", { name: tab }).waitFor();
    for (const name of ["Pause", "Delete", "Force open", "Reset", "Reveal"]) {
      expect(await page.getByRole("button", { name, exact: true }).count()).toBe(0);
    }
    expect(await page.getByRole("link", { name: /^Edit/ }).count()).toBe(0);
    await expectNoOverflow(page);
    await expectAccessible(page);
  }
  await page.context().close();
  expect(watched.problems).toEqual([]);
});

test("the tabs of administrators are accessible in the dark, too", async () => {
  const { id } = await world.webhook("dark", 200, { signature: { scheme: "standard-ed25519" } });
  const watched = await openPage(world.browser, { dark: true, width: 390 });
  const { page } = watched;
  await signIn(page, world.server, world.origin);
  await page.goto(`${world.origin}/webhooks/${id}`);
  for (const tab of ["Test send", "Secret", "Replay"]) {
    await page.getByRole("tab", { name: tab }).click();
    await page.getByRole("tabpanel", { name: tab }).waitFor();
    await expectNoOverflow(page);
    await expectAccessible(page);
  }
  await page.getByRole("tab", { name: "Secret" }).click();
  await page.getByText(/^whpk_/).waitFor();
  await page.goto(`${world.origin}/webhooks/${id}?tab=configuration`);
  const last = page.getByRole("tab", { name: "Configuration" });
  await until("the tab in view", async () => {
    const box = await last.boundingBox();
    return box !== null && box.x >= 0 && box.x + box.width <= 390;
  });
  await page.context().close();
  expect(watched.problems).toEqual([]);
});

test.skipIf(process.env["POSTRIDER_DEV_PAGES"])(
  "a portal visitor works with the own webhook and does not see those of others",
  async () => {
    for (const id of ["acme", "rival"]) await world.server.call("POST", "/v1/tenants", { id });
    const own = await world.webhook("acme-orders", 200, { tenant_id: "acme" });
    const other = await world.webhook("rival-orders", 200, { tenant_id: "rival" });
    await world.publish("order.paid", {}, { tenant_id: "rival" });
    await until("the delivery to others", () => receivedAt("/rival-orders").length === 1);

    const watched = await openPage(world.browser);
    const { page } = watched;
    const link = { tenant_id: "acme", role: "admin" };
    const { url } = await world.server.call<{ url: string }>("POST", "/v1/portal-links", link);
    await page.goto(world.origin + "/" + new URL(url).hash);
    await page.getByRole("group", { name: "Attempts" }).getByText("0", { exact: true }).waitFor();
    await page.goto(`${world.origin}/webhooks/${own.id}?tab=test`);
    await page.getByRole("button", { name: "Send test" }).click();
    await page.getByRole("region", { name: "Answer" }).getByText("200", { exact: true }).waitFor();
    expect(await page.getByText("Tenant acme").count()).toBe(0);
    await page.goto(`${world.origin}/webhooks/${own.id}?tab=configuration`);
    await page.getByRole("region", { name: "General" }).getByText("acme-orders").first().waitFor();
    expect(await page.getByText("Tenant", { exact: true }).count()).toBe(0);

    watched.expectProblem(/404/);
    await page.goto(`${world.origin}/webhooks/${other.id}`);
    await page.getByText("There is no such webhook").waitFor();
    expect(await page.content()).not.toContain("rival");
    await page.context().close();
    expect(watched.problems).toEqual([]);
  },
);
