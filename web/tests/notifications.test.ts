// Notification channels: created, tested with a message that really arrives, changed and deleted.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";

import { expectAccessible, openPage, signIn } from "./harness/browser.ts";
import { Server, until } from "./harness/server.ts";
import { openAs, settled } from "./harness/visitors.ts";
import { makeWorld } from "./harness/world.ts";

const world = makeWorld();
const hostile = '"><img src=x onerror="window.hacked=1"><b>bold</b>';

interface Channel {
  id: string;
  name: string;
  kind: string;
  tenant_id: string | null;
  target: { url?: string; to?: string[]; to_owner?: boolean; to_contacts?: boolean };
  webhook_id: string | null;
  kinds: string[];
  severity_min: string;
  webhook_ids: string[];
  send_resolved: boolean;
  group_window_ms: number;
  per_hour_max: number;
  active: boolean;
}

const channelsUrl = "/v1/notification-channels";
const make = (fields: object) => world.server.call<Channel>("POST", channelsUrl, fields);

async function named(name: string): Promise<Channel> {
  const list = await world.server.call<{ data: Channel[] }>("GET", channelsUrl);
  const found = list.data.find((channel) => channel.name === name);
  if (!found) throw new Error(`There is no channel ${name}.`);
  return found;
}

/** A radio's label is part of its name, as is its description. */
const chooseKind = (page: Page, label: string) =>
  page.getByRole("radio", { name: label, exact: true }).check();

beforeAll(async () => {
  await world.server.call("POST", "/v1/tenants", { id: "acme", name: "Acme Ltd" });
});

test("without channels, the page says the next step and that no mail server is configured", async () => {
  const { page } = world;
  await world.goto("/alerts");
  await page.getByRole("link", { name: "Notification channels" }).click();
  await page.getByText("Nobody is told about alerts yet").waitFor();
  await page.getByText("No mail server is configured").waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Create the first channel" }).click();
  await page.getByRole("heading", { name: "Create a notification channel" }).waitFor();
  await page.getByText("No mail server is configured").waitFor();
  await page.getByRole("button", { name: "Create channel" }).click();
  await page.getByText("Enter a name.").waitFor();
  await page.getByText("Enter an address, or choose owners or contacts.").waitFor();
  await expectAccessible(page);
  expect(await page.getByRole("textbox", { name: "Name" }).getAttribute("aria-invalid")).toBe(
    "true",
  );
});

test("a Slack channel is created, tested, changed and deleted", async () => {
  const { page, server, receiver } = world;
  const hook = await world.webhook("orders");
  await world.goto("/notifications/new");
  await chooseKind(page, "Slack");
  await page.getByRole("textbox", { name: "Name" }).fill("Ops chat");
  await page.getByRole("textbox", { name: "URL" }).fill(receiver.on("/slack", { body: "ok" }));
  await page.getByRole("textbox", { name: "Alerts" }).click();
  await page.getByRole("option", { name: "Circuit opened" }).click();
  await page.getByRole("option", { name: "Operation finished" }).click();
  await page.keyboard.press("Escape");
  await page.getByRole("textbox", { name: "Lowest severity" }).click();
  await page.getByRole("option", { name: "Warning and critical" }).click();
  await page.getByRole("textbox", { name: "Webhooks" }).fill("order");
  await page.getByRole("option", { name: "orders" }).click();
  await page.keyboard.press("Escape");
  await page.getByRole("textbox", { name: "Grouping window" }).fill("5 min");
  await page.getByRole("textbox", { name: "Messages an hour" }).fill("10");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Create channel" }).click();
  await page.getByRole("heading", { name: "The channel is created" }).waitFor();
  expect(await page.getByTestId("secret").count()).toBe(0);

  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByText("The receiver accepted the test").waitFor();
  await expectAccessible(page);
  const message = await until("the message", () =>
    receiver.received.find((each) => each.path === "/slack"),
  );
  const slack = JSON.parse(message.body) as { text?: string; blocks?: { type: string }[] };
  expect(slack.text).toContain("Test");
  expect(slack.blocks?.[0]?.type).toBeTypeOf("string");

  const made = await named("Ops chat");
  expect(made).toMatchObject({
    kind: "slack",
    tenant_id: null,
    kinds: ["circuit_opened", "operation_finished"],
    severity_min: "warning",
    webhook_ids: [hook.id],
    group_window_ms: 300_000,
    per_hour_max: 10,
  });

  await page.getByRole("link", { name: "Open the channel" }).click();
  const row = page.getByRole("row", { name: /This is a test of the notification channel/ });
  await row.getByText("sent", { exact: true }).waitFor();
  await page.getByText("1 sent, 0 waiting, 0 held back, 0 failed").waitFor();
  await page.getByText("working").waitFor();
  await expectAccessible(page);
  await page.getByRole("textbox", { name: "State" }).click();
  await page.getByRole("option", { name: "failed" }).click();
  await page.getByText("No notification matches").waitFor();
  expect(page.url()).toContain("state=failed");

  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByRole("heading", { name: "Edit Ops chat" }).waitFor();
  expect(await page.getByRole("radio").count()).toBe(0);
  await page.getByRole("textbox", { name: "Name" }).fill("Night chat");
  await page.getByRole("switch", { name: "Tell when an alert is resolved" }).uncheck();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByRole("heading", { name: "Night chat" }).waitFor();
  const changed = await server.call<Channel>("GET", `${channelsUrl}/${made.id}`);
  expect(changed).toMatchObject({ name: "Night chat", send_resolved: false, kinds: made.kinds });

  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByText("It sends nothing more.").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await server.call("GET", `${channelsUrl}/${made.id}`);
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete channel" }).click();
  await page.getByText("The channel Night chat is deleted.").waitFor();
  await page.getByText("Nobody is told about alerts yet").waitFor();
  await expect(server.call("GET", `${channelsUrl}/${made.id}`)).rejects.toThrow("404");
});

test("the secret of a webhook channel is shown and copied, and signs the test", async () => {
  const { page, server, receiver } = world;
  await world.goto("/notifications/new?tenant_id=acme");
  await chooseKind(page, "Webhook");
  expect(await page.getByRole("textbox", { name: "Tenant" }).inputValue()).toBe("acme");
  await page.getByRole("textbox", { name: "Name" }).fill("Pager");
  await page.getByRole("textbox", { name: "URL" }).fill(receiver.on("/pager"));
  await page.getByRole("button", { name: "Create channel" }).click();
  const secret = await page.getByTestId("secret").textContent();
  expect(secret).toMatch(/^whsec_/);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Copy secret" }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret);
  await page.getByRole("button", { name: "Copy the URL" }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/\/pager$/);

  const made = await named("Pager");
  expect(made.tenant_id).toBe("acme");
  const stored = await server.call<{ secret: string }>(
    "GET",
    `/v1/webhooks/${made.webhook_id ?? ""}/secret`,
  );
  expect(stored.secret).toBe(secret);
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByText("The receiver accepted the test").waitFor();
  const message = receiver.received.find((each) => each.path === "/pager");
  expect(message?.headers["webhook-signature"]).toMatch(/^v1,/);
  expect(message?.body).toContain('"type":"postrider.test"');

  await page.getByRole("link", { name: "Open the channel" }).click();
  await page.getByRole("heading", { name: "Pager" }).waitFor();
  expect(await page.content()).not.toContain(secret);
  await server.call("DELETE", `${channelsUrl}/${made.id}`);
});

test("a receiver that refuses and a missing mail server are told in words", async () => {
  const { page, server, receiver } = world;
  const url = receiver.on("/gone-chat", { status: 404, body: "no_service" });
  const chat = await make({ name: "Old chat", kind: "teams", target: { url } });
  await world.goto(`/notifications/${chat.id}`);
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByText("The receiver did not accept the test").waitFor();
  await page.getByText(/404/).first().waitFor();
  await page.getByRole("link", { name: "Open the delivery" }).waitFor();

  const mail = await make({ name: "Mail", kind: "email", target: { to: ["ops@example.com"] } });
  await world.goto(`/notifications/${mail.id}`);
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByText("The test was not sent").waitFor();
  await page.getByRole("status").getByText("No mail server is configured").waitFor();
  await page.getByText("failing").first().waitFor();
  await expectAccessible(page);

  await world.goto("/notifications");
  const row = page.getByRole("row", { name: /ops@example.com/ });
  await row.getByText("failing").waitFor();
  await row.getByText("1 failed").waitFor();
  await page
    .getByRole("row", { name: /Old chat/ })
    .getByText("failing")
    .waitFor();
  await page.getByRole("textbox", { name: "Kind" }).click();
  await page.getByRole("option", { name: "E-mail" }).click();
  await page.getByText("1 row", { exact: true }).waitFor();
  await page.getByRole("textbox", { name: "Tenant" }).fill("acme");
  await page.getByText("No channel matches").waitFor();
  expect(page.url()).toContain("tenant_id=acme");
  for (const { id } of [chat, mail]) await server.call("DELETE", `${channelsUrl}/${id}`);
});

test("an e-mail channel is edited; the server's words stand at the field", async () => {
  const { page, server } = world;
  const target = { to: ["a@example.com"], to_owner: true };
  const { id } = await make({ name: "Mail", kind: "email", target });
  await world.goto(`/notifications/${id}/edit`);
  const addresses = page.getByRole("textbox", { name: "Addresses" });
  await addresses.fill("not an address");
  await addresses.press("Enter");
  world.watched.expectProblem(/422/);
  await page.getByRole("button", { name: "Save changes" }).click();
  const problem = page.getByRole("alert");
  await problem.getByText(/Request id/).waitFor();
  await page.getByText(/^not an address /).waitFor();
  await expectAccessible(page);
  await addresses.press("Backspace");
  await addresses.fill("b@example.com");
  await addresses.press("Enter");
  await page.getByRole("checkbox", { name: "Contacts of the tenant" }).check();
  await page.getByRole("switch", { name: "Active" }).uncheck();
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByText("This channel is switched off").waitFor();
  expect(await server.call<Channel>("GET", `${channelsUrl}/${id}`)).toMatchObject({
    target: { to: ["a@example.com", "b@example.com"], to_owner: true, to_contacts: true },
    active: false,
  });
  await server.call("DELETE", `${channelsUrl}/${id}`);
});

test("hostile text is shown as text", async () => {
  const { page, server, receiver } = world;
  const url = receiver.on("/hostile?a=%3Cb%3E");
  const { id } = await make({ name: hostile, kind: "slack", target: { url } });
  await world.goto("/notifications");
  await page.getByRole("link", { name: hostile }).click();
  await page.getByRole("heading", { name: hostile }).waitFor();
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByText("The receiver accepted the test").waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByText(`Delete ${hostile}?`).waitFor();
  await page.getByRole("button", { name: "Delete channel" }).click();
  await page.getByText(`The channel ${hostile} is deleted.`).waitFor();
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);
  expect(await page.locator('img[src="x"]').count()).toBe(0);
  await expect(server.call("GET", `${channelsUrl}/${id}`)).rejects.toThrow("404");
});

test("viewers see channels and notifications and cannot change them", async () => {
  const { server, receiver } = world;
  const target = { url: receiver.on("/seen") };
  const channel = await make({ name: "Seen", kind: "slack", target, tenant_id: "acme" });
  await server.call("POST", `${channelsUrl}/${channel.id}/test`);
  for (const visitor of [
    { operator: "viewer" } as const,
    { tenant: "acme", role: "viewer" } as const,
  ]) {
    const { page, problems } = await openAs(world, visitor);
    await page.goto(`${world.origin}/notifications`);
    await page.getByRole("link", { name: "Seen" }).click();
    await page.getByRole("row", { name: /This is a test/ }).waitFor();
    for (const name of ["Send a test", "Delete", "Edit", "Create channel"]) {
      expect(await page.getByRole("button", { name }).count(), name).toBe(0);
      expect(await page.getByRole("link", { name, exact: true }).count(), name).toBe(0);
    }
    await page.goto(`${world.origin}/notifications/${channel.id}/edit`);
    await page.getByText("There is no such page").waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  }
  await server.call("DELETE", `${channelsUrl}/${channel.id}`);
});

test("a tenant manages its own channels in the portal", async () => {
  const { server, receiver } = world;
  const foreign = await make({ name: "Server's", kind: "email", target: { to: ["o@x.example"] } });
  const { page, problems, expectProblem } = await openAs(world, { tenant: "acme" });
  await page.goto(`${world.origin}/notifications`);
  await page.getByText("Nobody is told about alerts yet").waitFor();
  expect(await page.getByRole("textbox", { name: "Tenant" }).count()).toBe(0);
  await page.getByRole("link", { name: "Create channel" }).click();
  await chooseKind(page, "Slack");
  await page.getByRole("textbox", { name: "Name" }).fill("Acme chat");
  await page.getByRole("textbox", { name: "URL" }).fill(receiver.on("/acme-chat"));
  expect(await page.getByRole("textbox", { name: "Tenant" }).count()).toBe(0);
  await page.getByRole("textbox", { name: "Alerts" }).click();
  expect(await page.getByRole("option", { name: "Store fails" }).count()).toBe(0);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Create channel" }).click();
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByText("The receiver accepted the test").waitFor();
  await expectAccessible(page);
  const made = await named("Acme chat");
  expect(made.tenant_id).toBe("acme");
  expectProblem(/404/);
  await page.goto(`${world.origin}/notifications/${foreign.id}`);
  await page.getByText("There is no such channel").waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
  for (const { id } of [made, foreign]) await server.call("DELETE", `${channelsUrl}/${id}`);
});

test("a channel from the settings is read-only and can be tested", async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "postrider-config-"));
  const file = path.join(directory, "postrider.toml");
  // Nothing listens at this address.
  writeFileSync(
    file,
    '[smtp]\nserver = "127.0.0.1"\nport = 9\nsecurity = "none"\n\n' +
      '[[notification_channels]]\nname = "On call"\nkind = "email"\nto = ["ops@example.com"]\n',
  );
  const server = await new Server(["--config", file]).start();
  try {
    const { page, problems } = await openPage(world.browser);
    await signIn(page, server);
    await page.goto(`${server.origin}/notifications`);
    const row = page.getByRole("row", { name: /On call/ });
    await row.getByText("from the settings").waitFor();
    expect(await page.getByText("No mail server is configured").count()).toBe(0);
    await page.getByRole("link", { name: "On call" }).click();
    await page.getByText("This channel is read-only").waitFor();
    await expectAccessible(page);
    expect(await page.getByRole("button", { name: "Delete" }).count()).toBe(0);
    expect(await page.getByRole("link", { name: "Edit", exact: true }).count()).toBe(0);
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByText(/The test (was not sent|could not be sent yet)/).waitFor();
    await page.goto(`${page.url()}/edit`);
    await page.getByText("It comes from the settings of the server").waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  } finally {
    await server.remove();
    rmSync(directory, { recursive: true, force: true });
  }
});

test("notifications are read page by page", async () => {
  const { page, server } = world;
  const { id } = await make({ name: "Busy", kind: "email", target: { to: ["a@b.example"] } });
  const tests = 3;
  for (let count = 0; count < tests; ++count) {
    await server.call("POST", `${channelsUrl}/${id}/test`);
  }
  // Pages of two, so that three notifications are enough.
  await page.route("**/notifications?*limit=50*", (route) =>
    route.continue({ url: route.request().url().replace("limit=50", "limit=2") }),
  );
  await world.goto(`/notifications/${id}`);
  await page.getByText("2 rows", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Next page" }).click();
  await page.getByText("1 row", { exact: true }).waitFor();
  expect(page.url()).toContain("cursor=");
  await page.getByRole("button", { name: "First page" }).click();
  await page.getByText("2 rows", { exact: true }).waitFor();
  await server.call("DELETE", `${channelsUrl}/${id}`);
});

test("the palette leads to the page, the form and a channel by its id", async () => {
  const { page, server } = world;
  const { id } = await make({ name: "Found", kind: "email", target: { to_contacts: true } });
  await page.keyboard.press("Control+K");
  await page.getByRole("textbox", { name: "Search" }).fill("notification");
  await page.getByRole("button", { name: "Create a notification channel" }).click();
  await page.getByRole("heading", { name: "Create a notification channel" }).waitFor();
  await page.keyboard.press("Control+K");
  await page.getByRole("textbox", { name: "Search" }).fill(id);
  await page.getByRole("button", { name: `Notification channel ${id}` }).click();
  await page.getByRole("heading", { name: "Found" }).waitFor();
  await settled(page);
  await page.getByText("contacts of the tenant").waitFor();
  await server.call("DELETE", `${channelsUrl}/${id}`);
});
