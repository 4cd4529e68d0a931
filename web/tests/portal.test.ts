// The same application for a tenant: its own branding and data, nothing of anybody else.
import { beforeAll, expect, test } from "vitest";

import { expectAccessible } from "./harness/browser.ts";
import { type Ids, pathsFor } from "./harness/pagePaths.ts";
import { until } from "./harness/server.ts";
import { openAs, settled, visit } from "./harness/visitors.ts";
import { makeWorld } from "./harness/world.ts";

const world = makeWorld();
let own: Ids;
let foreign: Ids;

interface Deliveries {
  data: { id: string; webhook_id: string }[];
}

/** A tenant whose every name has `word` in it. */
async function makeTenant(id: string, word: string): Promise<Ids> {
  const { server } = world;
  await server.call("POST", "/v1/tenants", { id, name: `${word} Ltd` });
  await server.call("POST", "/v1/api-keys", {
    scope: "tenant",
    tenant_id: id,
    name: `${word}-key`,
  });
  const fields = { tenant_id: id, events: ["*"], description: `${word} description` };
  const hook = await world.webhook(`${word}-hook`, 404, fields);
  await world.webhook(`${word}-gone`, 410, fields);
  const event = await world.publish(
    "order.paid",
    { note: `${word}-data` },
    { tenant_id: id, resource_id: `${word}-order`, metadata: { note: `${word}-metadata` } },
  );
  const delivery = await until("its dead letter", async () => {
    const dead = await server.call<Deliveries>(
      "GET",
      `/v1/deliveries?status=dead_letter&tenant_id=${id}`,
    );
    return dead.data.find((each) => each.webhook_id === hook.id);
  });
  const channel = await server.call<{ id: string }>("POST", "/v1/notification-channels", {
    name: `${word}-channel`,
    kind: "slack",
    target: { url: world.receiver.on(`/${word}-chat`) },
    tenant_id: id,
  });
  return {
    webhook: hook.id,
    event: event.id,
    delivery: delivery.id,
    eventType: "order.paid",
    tenant: id,
    channel: channel.id,
  };
}

beforeAll(async () => {
  await world.server.call("POST", "/v1/event-types", { name: "order.paid", description: "Paid" });
  await world.server.call("POST", "/v1/api-keys", { scope: "read", name: "operator-key" });
  own = await makeTenant("acme", "ownword");
  foreign = await makeTenant("rival", "foreignword");
  await world.webhook("operator-hook", 200, {});
});

const rights = { operator: false, read: true, admin: true, publish: true };

test("a tenant sees its own things and nothing of anybody else, on every page", async () => {
  const { page, problems } = await openAs(world, { tenant: "acme" });
  const seen: string[] = [];
  for (const path of pathsFor(rights, own)) {
    await visit(page, path);
    const text = (await page.content()) + (await page.locator("body").innerText());
    for (const word of ["foreignword", "rival", "operator-", foreign.webhook, "Postrider 0."]) {
      expect(text, `${path} has ${word}`).not.toContain(word);
    }
    if (text.includes("ownword")) seen.push(path);
  }
  expect(seen).toEqual(
    expect.arrayContaining([
      "/webhooks",
      "/deliveries",
      "/dead-letters",
      "/events",
      "/alerts",
      "/notifications",
      "/api-keys",
      `/webhooks/${own.webhook}`,
      `/deliveries/${own.delivery}`,
      `/events/${own.event}`,
      `/notifications/${own.channel}`,
    ]),
  );
  expect(await page.getByRole("columnheader", { name: "Tenant" }).count()).toBe(0);
  expect(problems).toEqual([]);
  await page.context().close();
}, 120_000);

test("pages of the operator and ids of others do not exist for a tenant", async () => {
  const { page, expectProblem, problems } = await openAs(world, { tenant: "acme" });
  for (const path of [
    "/tenants",
    "/tenants/rival",
    "/audit-log",
    "/settings",
    "/event-types/new",
  ]) {
    await page.goto(world.origin + path);
    await page.getByText("There is no such page").waitFor();
  }
  const menu = await page.getByRole("navigation", { name: "Pages" }).innerText();
  expect(menu).not.toMatch(/Tenants|Audit|Settings/);
  expectProblem(/404/);
  for (const path of [
    `/webhooks/${foreign.webhook}`,
    `/deliveries/${foreign.delivery}`,
    `/events/${foreign.event}`,
  ]) {
    await page.goto(world.origin + path);
    await page
      .getByText(/There is no such/)
      .or(page.getByRole("alert"))
      .first()
      .waitFor();
    expect(await page.content()).not.toContain("foreignword");
  }
  expect(problems).toEqual([]);
  await page.context().close();
});

test("a tenant makes and revokes keys of its own", async () => {
  const { page, problems } = await openAs(world, { tenant: "acme" });
  await page.goto(`${world.origin}/api-keys`);
  await page.getByRole("button", { name: "Create API key" }).click();
  const dialog = page.getByRole("dialog");
  expect(await dialog.getByRole("textbox", { name: "Scope" }).count()).toBe(0);
  await dialog.getByRole("textbox", { name: "Name" }).fill("their-program");
  await dialog.getByRole("button", { name: "Create key" }).click();
  const key = (await page.getByTestId("shown-once").textContent()) ?? "";
  await page.getByRole("button", { name: "Done" }).click();
  const hooks = await world.server.call<{ data: { tenant_id: string }[] }>(
    "GET",
    "/v1/webhooks",
    undefined,
    key,
  );
  expect(new Set(hooks.data.map((each) => each.tenant_id))).toEqual(new Set(["acme"]));
  await page.getByRole("button", { name: "Revoke their-program" }).click();
  await page.getByRole("button", { name: "Revoke key" }).click();
  await page.getByRole("row", { name: /their-program/ }).waitFor({ state: "detached" });
  expect(problems).toEqual([]);
  await page.context().close();
});

test("branding of the link is shown, readable in any colour", async () => {
  const icon = await world.page.locator('link[rel="icon"]').getAttribute("href");
  for (const dark of [false, true]) {
    const branding = { title: "Acme Hooks", primary_color: "#ffe600", logo_url: icon };
    const { page, problems } = await openAs(world, { tenant: "acme" }, { branding }, { dark });
    expect(await page.getByTestId("brand").textContent()).toBe("Acme Hooks");
    await page.goto(`${world.origin}/webhooks`);
    await settled(page);
    expect(await page.title()).toBe("Webhooks · Acme Hooks");
    const logo = page.getByRole("banner").locator("img");
    expect(await logo.getAttribute("src")).toBe(icon);
    const shade = await page.evaluate(() =>
      getComputedStyle(document.documentElement).getPropertyValue("--mantine-color-brand-7"),
    );
    expect(shade.trim()).toMatch(/^#[0-9a-f]{6}$/);
    expect(shade.trim()).not.toBe("#2f5fd0");
    await expectAccessible(page);
    expect(problems).toEqual([]);
    await page.context().close();
  }
});

test.each([
  { name: "a viewer of the tenant", visitor: { tenant: "acme", role: "viewer" } as const },
  { name: "a viewer of the operator", visitor: { operator: "viewer" } as const },
])(
  "$name reads and has no buttons that would be refused",
  async ({ visitor }) => {
    const { page, problems } = await openAs(world, visitor);
    const operator = "operator" in visitor;
    const paths = pathsFor({ operator, read: true, admin: false, publish: false }, own);
    const forbidden =
      /^(Create|Publish|Register|Delete|Pause|Retry|Discard|Rotate|Archive|Revoke|Edit|Send)\b/;
    for (const path of paths) {
      await visit(page, path);
      for (const role of ["button", "link"] as const) {
        const found = await page
          .getByRole("main")
          .getByRole(role, { name: forbidden })
          .allInnerTexts();
        expect(found, path).toEqual([]);
      }
    }
    expect(paths).not.toContain("/api-keys");
    expect(problems).toEqual([]);
    await page.context().close();
  },
  120_000,
);
