// API keys, tenants, audit log, alerts and settings.
import { expect, test } from "vitest";

import { expectAccessible } from "./harness/browser.ts";
import { until } from "./harness/server.ts";
import { makeWorld } from "./harness/world.ts";

const world = makeWorld();

test("an API key is created, shown once, used and revoked", async () => {
  const { page, server } = world;
  await world.goto("/api-keys");
  await page.getByRole("button", { name: "Create API key" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("importer");
  await dialog.getByRole("textbox", { name: "Scope" }).click();
  await page.getByRole("option", { name: /^Tenant/ }).click();
  await dialog.getByRole("textbox", { name: "Tenant" }).fill("acme");
  await dialog.getByRole("textbox", { name: "Role" }).click();
  await page.getByRole("option", { name: /^Viewer/ }).click();
  await dialog.getByRole("textbox", { name: "Expires" }).click();
  await page.getByRole("option", { name: "After 30 days" }).click();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Create key" }).click();

  const key = await page.getByTestId("shown-once").textContent();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Copy the key" }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key);
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByTestId("shown-once").waitFor({ state: "detached" });
  const row = page.getByRole("row", { name: /importer/ });
  await row.getByText("tenant, viewer").waitFor();
  expect(await page.content()).not.toContain(key);
  await server.call("GET", "/v1/webhooks", undefined, key ?? "");

  await row.getByRole("button", { name: "Revoke importer" }).click();
  await page.getByText("refused from their next request on").waitFor();
  await page.getByRole("button", { name: "Revoke key" }).click();
  await row.waitFor({ state: "detached" });
  await expect(server.call("GET", "/v1/webhooks", undefined, key ?? "")).rejects.toThrow("401");
});

test("a tenant is registered, limited, suspended, resumed, linked and deleted", async () => {
  const { page, server } = world;
  await world.goto("/tenants");
  await page.getByText("There are no registered tenants").waitFor();
  await page.getByRole("button", { name: "Register tenant" }).click();
  await page.getByRole("textbox", { name: "Id" }).fill("acme:1");
  await page.getByRole("textbox", { name: "Name" }).fill("Acme Ltd");
  await page.getByRole("button", { name: "Register", exact: true }).click();
  await page.getByRole("heading", { name: "Acme Ltd" }).waitFor();
  await page.getByText("It has no webhooks").waitFor();

  await page.getByRole("textbox", { name: "Events per minute" }).fill("600");
  await page.getByRole("button", { name: "Save limits" }).click();
  await until("the limit", async () => {
    const limits = await server.call<{ events_per_minute: number }>(
      "GET",
      "/v1/tenants/acme:1/limits",
    );
    return limits.events_per_minute === 600;
  });
  const contacts = page.getByRole("textbox", { name: "E-mail addresses" });
  await contacts.fill("ops@acme.example");
  await contacts.press("Enter");
  await contacts.fill("night@acme.example");
  await contacts.press("Enter");
  await page.getByRole("button", { name: "Save contacts" }).click();
  await page.getByText("The contacts are saved.").waitFor();
  const tenant = await server.call<{ contacts: string[] }>("GET", "/v1/tenants/acme:1");
  expect(tenant.contacts).toEqual(["ops@acme.example", "night@acme.example"]);
  await world.webhook("acme-hook", 200, { tenant_id: "acme:1" });
  await world.goto("/tenants/acme%3A1");
  await page.getByRole("link", { name: "acme-hook" }).waitFor();
  await expectAccessible(page);

  await page.getByRole("button", { name: "Suspend" }).click();
  await page.getByText("Its portal is closed, also for those who are signed in.").waitFor();
  await page.getByRole("textbox", { name: "Reason" }).fill("unpaid");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Suspend tenant" }).click();
  await page.getByText("This tenant is suspended").waitFor();
  await page.getByText(/: unpaid/).waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByText("This tenant is suspended").waitFor({ state: "detached" });

  await page.getByRole("button", { name: "Create portal link" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Colour" }).fill("red");
  await dialog.getByText("Write it as #2f5fd0.").waitFor();
  await dialog.getByRole("textbox", { name: "Colour" }).fill("");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Create link" }).click();
  expect(await page.getByTestId("shown-once").textContent()).toMatch(/^http:.*#/);
  await page.getByRole("button", { name: "Done" }).click();

  await page.getByRole("button", { name: "Delete" }).click();
  const confirm = page.getByRole("button", { name: "Delete tenant" });
  expect(await confirm.isDisabled()).toBe(true);
  await page.getByRole("textbox", { name: "Type acme:1 to confirm" }).fill("acme:1");
  await confirm.click();
  await page.getByText("There are no registered tenants").waitFor();
});

test("the audit log tells who did what, filters, and its chain is checked", async () => {
  const { page, server } = world;
  await server.call("POST", "/v1/tenants", { id: "audited" });
  await world.goto("/audit-log");
  await page.getByRole("row", { name: /audited/ }).waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Check the chain" }).click();
  await page.getByText("The chain holds").waitFor();
  await page.getByText(/none was altered or removed/).waitFor();
  await page.getByRole("textbox", { name: "Subject" }).fill("audited");
  await page.getByText("1 row", { exact: true }).waitFor();
  expect(page.url()).toContain("subject=audited");
  await page.getByRole("button", { name: /^Details of entry/ }).click();
  await page.getByRole("region", { name: "details" }).waitFor();
  await expectAccessible(page);
});

test("alerts appear by themselves and say what to do next", async () => {
  const { page } = world;
  await world.goto("/alerts");
  await page.getByText("Nothing needs attention").waitFor();
  await expectAccessible(page);
  const { id } = await world.webhook("gone", 410);
  await world.publish("order.paid");
  await page.getByRole("row", { name: /Webhook disabled/ }).waitFor();
  await page.getByText("Correct it and enable the webhook.").waitFor();
  await expectAccessible(page);
  const links = page.getByRole("row", { name: /Webhook disabled/ }).getByRole("link");
  expect(await links.first().getAttribute("href")).toBe(`/webhooks/${id}`);

  await page.getByRole("textbox", { name: "Webhook" }).fill("gon");
  await page.getByRole("option", { name: "gone" }).click();
  await page.getByRole("textbox", { name: "Kind" }).click();
  await page.getByRole("option", { name: "Webhook disabled" }).click();
  await page.getByText("1 row", { exact: true }).waitFor();
  expect(page.url()).toContain("kind=webhook_disabled");
  await page.getByText("Past", { exact: true }).click();
  await page.getByText("No alert matches").waitFor();
});

test("settings show their origin and can be searched", async () => {
  const { page } = world;
  await world.goto("/settings");
  await page.getByRole("row", { name: /allow_http.*Command line/ }).waitFor();
  await expectAccessible(page);
  await page.getByRole("textbox", { name: "Search" }).fill("webhooks_per_tenant");
  await page.getByText("1 row", { exact: true }).waitFor();
  await page.getByRole("row", { name: /1000.*Default/ }).waitFor();
  await page.getByRole("textbox", { name: "Search" }).fill("no such setting");
  await page.getByText("No setting matches").waitFor();
});
