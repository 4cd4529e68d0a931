import { createHmac } from "node:crypto";

import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";

import { expectAccessible, openPage, signIn } from "./harness/browser.ts";
import { until } from "./harness/server.ts";
import { makeWorld } from "./harness/world.ts";

const world = makeWorld();

const types = [
  "invoice.paid",
  "order.cancelled",
  "order.created",
  "order.paid",
  "order.shipped",
  "user.created",
  "user.deleted",
];
const hostile = "<img src=x onerror=alert(1)>";
const secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz";

beforeAll(async () => {
  for (const name of types) {
    const example = { order: 7, amount: 120.5, note: hostile };
    await world.server.call("POST", "/v1/event-types", { name, example, description: hostile });
  }
});

interface Stored {
  id: string;
  name: string | null;
  url: string;
  events: string[];
  active: boolean;
  [field: string]: unknown;
}

async function stored(name: string): Promise<Stored | undefined> {
  const { data } = await world.server.call<{ data: Stored[] }>("GET", "/v1/webhooks?limit=250");
  return data.find((hook) => hook.name === name);
}

/** An answer that repeats the challenge of a verification. */
const echo = ({ body }: { body: string }) => /"challenge":"([^"]+)"/.exec(body)?.[1] ?? "";

const field = (page: Page, name: string) => page.getByRole("textbox", { name, exact: true });

async function choose(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole("textbox", { name: label, exact: true }).click();
  await page.getByRole("option", { name: option }).click();
}

async function previewedHeaders(page: Page): Promise<Record<string, string>> {
  const cells = await page.locator("[data-header]").all();
  const headers: Record<string, string> = {};
  for (const cell of cells) {
    headers[((await cell.getAttribute("data-header")) ?? "").toLowerCase()] =
      (await cell.textContent()) ?? "";
  }
  return headers;
}

// They differ in every request.
const variable = new Set([
  "webhook-id",
  "webhook-timestamp",
  "webhook-signature",
  "x-webhook-id",
  "x-webhook-delivery",
  "x-webhook-timestamp",
  "x-idempotency-key",
]);

async function fillForm(page: Page, url: string): Promise<void> {
  await field(page, "URL").fill(url);
  await field(page, "Name").fill(hostile);
  await page.getByRole("checkbox", { name: "order.created" }).check();
  await page.getByRole("checkbox", { name: "order.paid" }).check();
  await page.getByRole("textbox", { name: "Add a name or pattern" }).fill("user.*");
  await page.getByText("Matches 2 of 7: user.created, user.deleted.").waitFor();
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("listitem").filter({ hasText: "user.* (2 of 7)" }).waitFor();
}

test("create: seven types of the catalogue, filter, preview, and the secret once", async () => {
  const { page } = world;
  const url = world.receiver.on("/new?q=%3Cscript%3E");
  await world.goto("/webhooks");
  await page.getByRole("link", { name: "Create webhook" }).click();
  await page.getByRole("checkbox", { name: "user.deleted" }).waitFor();
  for (const name of types) {
    expect(await page.getByRole("checkbox", { name, exact: false }).count()).toBe(1);
  }
  await page.getByText("No event types are chosen yet").waitFor();
  await fillForm(page, url);

  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByRole("textbox", { name: "Filter" }).fill('{"data": {"amount": [');
  await page.getByText("The filter is not valid").waitFor();
  expect(
    await page.getByText("The webhook would receive this event", { exact: true }).count(),
  ).toBe(0);
  await page
    .getByRole("textbox", { name: "Filter" })
    .fill('{"data": {"amount": [{"numeric": [">", 1000]}]}}');
  await page.getByText("The example does not match the filter").waitFor();
  const data = '{"order": 7, "amount": 1000.50, "note": "<b>ä"}';
  await page.getByRole("textbox", { name: "Data of the example" }).fill(data);
  await page.getByText("The example matches the filter").waitFor();
  await page.getByText("The webhook would receive this event").waitFor();

  await page.getByRole("button", { name: "Retries and timeout" }).click();
  await choose(page, "Preset", "Stepped");
  const drawing = page.getByRole("img", { name: "Retry schedule" });
  await until("the schedule", async () =>
    (await drawing.getAttribute("aria-label"))?.includes(
      "5 attempts. The last one comes 1 h 25 min after the first.",
    ),
  );
  await page.getByRole("button", { name: "Retries and timeout" }).click();

  await page.getByRole("button", { name: "Payload and signature" }).click();
  await page.getByLabel("Your own secret").fill(secret);
  await page.getByRole("button", { name: "State, description and metadata" }).click();
  await page.getByRole("textbox", { name: "E-mail of the owner" }).fill("owner@example.com");
  await page.getByRole("button", { name: "Custom headers" }).click();
  await page.getByRole("button", { name: "Add a header" }).click();
  await page.getByRole("textbox", { name: "Name of header 1" }).fill("X-Team");
  await page.getByRole("textbox", { name: "Value of header 1" }).fill(hostile);
  await page.locator('[data-header="X-Team"]').waitFor();
  await page.getByText("Signed with the secret of the webhook.").waitFor();
  const previewed = await previewedHeaders(page);
  await page.getByText("Raw", { exact: true }).click();
  const body =
    (await page.getByRole("region", { name: "body of the request" }).textContent()) ?? "";
  await expectAccessible(page);

  await page.getByRole("button", { name: "Create webhook" }).click();
  await page.getByText("Copy the secret now").waitFor();
  expect(await page.getByTestId("secret").textContent()).toBe(secret);
  await page.getByRole("button", { name: "Copy secret" }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Send a test event" }).click();
  await page.getByText("The receiver accepted the test event").waitFor();

  const hook = await stored(hostile);
  expect(hook).toMatchObject({
    url,
    events: ["order.created", "order.paid", "user.*"],
    filter: { data: { amount: [{ numeric: [">", 1000] }] } },
    retry_config: { preset: "stepped" },
    headers: { "X-Team": hostile },
    owner_email: "owner@example.com",
  });

  // The real request is the previewed one.
  const event = JSON.parse(body) as { type: string };
  await fetch(`${world.server.origin}/v1/events`, {
    method: "POST",
    headers: { Authorization: `Bearer ${world.server.key}`, "Content-Type": "application/json" },
    body: `{"type": "${event.type}", "data": ${data}}`,
  });
  const sent = await until("the delivery", () =>
    world.receiver.received.find(
      (each) => each.path.startsWith("/new") && each.body.includes("1000.50"),
    ),
  );
  expect(Object.keys(sent.headers).sort()).toEqual(
    expect.arrayContaining(Object.keys(previewed).sort()),
  );
  for (const [name, value] of Object.entries(previewed)) {
    if (!variable.has(name)) expect([name, sent.headers[name]]).toEqual([name, value]);
  }
  const shape = (text: string) =>
    text.replace(/"id":"[^"]*"/, '"id":"…"').replace(/"timestamp":"[^"]*"/, '"timestamp":"…"');
  expect(shape(sent.body)).toBe(shape(body));
  const signed = `${previewed["webhook-id"]}.${previewed["webhook-timestamp"]}.${body}`;
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const signature = createHmac("sha256", key).update(signed).digest("base64");
  expect(previewed["webhook-signature"]).toBe(`v1,${signature}`);

  await page.getByRole("link", { name: "Webhooks", exact: true }).click();
  await page.getByRole("link", { name: hostile }).waitFor();
  expect(await page.locator("img[src=x]").count()).toBe(0);
});

test("verification tells its result and can be repeated", async () => {
  const { page } = world;
  world.watched.expectProblem(/422/);
  const url = world.receiver.on("/verified", { body: "something else" });
  await world.goto("/webhooks/new");
  await page.getByRole("checkbox", { name: "All events" }).check();
  await field(page, "URL").fill(url);
  await field(page, "Name").fill("verified");
  await page.getByRole("radio", { name: "Verify, and save nothing" }).check();
  await page.getByRole("button", { name: "Create webhook" }).click();
  await page.getByRole("alert").getByText("The receiver's URL could not be verified").waitFor();
  expect(await field(page, "URL").getAttribute("aria-invalid")).toBe("true");
  expect(await stored("verified")).toBeUndefined();

  await page.getByRole("radio", { name: "Verify, and switch" }).check();
  await page.getByRole("button", { name: "Create webhook" }).click();
  await page.getByText("The URL could not be verified", { exact: true }).waitFor();
  await page.getByText("Copy the secret now").waitFor();
  expect((await stored("verified"))?.active).toBe(false);
  await expectAccessible(page);
  world.receiver.on("/verified", { body: echo });
  await page.getByRole("button", { name: "Verify again" }).click();
  await page.getByText("The URL is verified").waitFor();
  expect((await stored("verified"))?.active).toBe(true);
});

test("numbers of a stored filter keep their digits when it is edited", async () => {
  const { page, server } = world;
  const { id } = await world.webhook("digits");
  const call = async (method: string, body?: string) => {
    const answer = await fetch(`${server.origin}/v1/webhooks/${id}`, {
      method,
      headers: { Authorization: `Bearer ${server.key}`, "Content-Type": "application/json" },
      body,
    });
    return answer.text();
  };
  await call("PATCH", '{"filter": {"data": {"id": [9007199254740993]}}}');
  await world.goto(`/webhooks/${id}/edit`);
  await page.getByRole("button", { name: "Filter" }).click();
  const filter = page.getByRole("textbox", { name: "Filter" });
  expect(await filter.inputValue()).toContain("9007199254740993");
  await filter.fill((await filter.inputValue()).replace("9007199254740993", "9007199254740993, 7"));
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByText("The webhook is saved.").waitFor();
  expect((await call("GET")).replaceAll(/\s/g, "")).toContain('"id":[9007199254740993,7]');
});

const full = {
  events: ["order.*", "cart.added"],
  description: "Kept",
  headers: { Authorization: "Bearer kept", "X-Kept": "1" },
  metadata: { team: "a", level: 2 },
  filter: { data: { amount: [{ numeric: [">", 1] }] } },
  retry_config: { base_delay_ms: 1_500, schedule_ms: [1_000, 90_000], jitter: { plus: 0.25 } },
  circuit_breaker_config: { preset: "sensitive" },
  rate_limit: { requests_per_minute: 90, burst: 3 },
  max_in_flight: 7,
  payload: { form: "sorted" },
  ordering_guarantee: "strict",
};

test("edit keeps what it does not touch, names errors at their fields, and asks before leaving", async () => {
  const { page } = world;
  world.watched.expectProblem(/422/);
  const { id } = await world.webhook("edited", 200, full);
  const before = await world.server.call<Stored>("GET", `/v1/webhooks/${id}`);
  await world.goto(`/webhooks/${id}/edit`);
  await page.getByRole("heading", { name: "Edit edited" }).waitFor();
  expect(await field(page, "URL").inputValue()).toBe(before.url);
  expect(await page.getByRole("button", { name: "Save changes" }).isDisabled()).toBe(true);

  await page.getByRole("button", { name: "Rate, concurrency and order" }).click();
  await page.getByRole("textbox", { name: "Requests in flight" }).fill("5000");
  await page.getByText("Must be an integer from 1 to 1000.").waitFor();
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByText("Request id:").waitFor();
  // The corrected field has no error any more, although nothing was sent since.
  const inFlight = page.getByRole("textbox", { name: "Requests in flight" });
  await inFlight.fill("7");
  await until(
    "the message to go",
    async () => (await inFlight.getAttribute("aria-invalid")) !== "true",
  );
  await page.getByRole("button", { name: "Retries and timeout" }).click();
  await field(page, "First delay").fill("soon");
  await page.getByText("Use a duration such as").waitFor();
  await field(page, "First delay").fill("2 s 500 ms");

  await page.getByRole("link", { name: "Deliveries" }).click();
  await page.getByText("Leave without saving?").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  expect(page.url()).toContain(`/webhooks/${id}/edit`);
  await field(page, "Name").fill("edited again");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByText("The webhook is saved.").waitFor();
  await page.waitForURL(`**/webhooks/${id}`);

  const after = await world.server.call<Stored>("GET", `/v1/webhooks/${id}`);
  const retry = before["retry_config"] as object;
  expect(after).toEqual({
    ...before,
    name: "edited again",
    retry_config: { ...retry, base_delay_ms: 2_500 },
    updated_at: after["updated_at"],
  });
  const sent = world.receiver.received.length;
  await world.publish("order.paid", { amount: 2 });
  await until("the delivery", () =>
    world.receiver.received
      .slice(sent)
      .find((each) => each.headers.authorization === "Bearer kept"),
  );
});

test("leaving a changed form asks, also with the back button, on a phone in the dark", async () => {
  const { page, problems } = await openPage(world.browser, { dark: true, width: 390 });
  await signIn(page, world.server, world.origin);
  await page.goto(`${world.origin}/webhooks`);
  await page.getByRole("link", { name: "Create webhook" }).click();
  await page.getByRole("checkbox", { name: "user.deleted" }).waitFor();
  await page.getByRole("button", { name: "Create webhook" }).click();
  await page.getByText("Enter the URL of the receiver.").waitFor();
  await page.getByText("Choose at least one event type.").waitFor();
  await page.getByRole("checkbox", { name: "All of order.*" }).check();
  await page.getByText("The webhook would receive this event").waitFor();
  await expectAccessible(page);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBeLessThanOrEqual(390);

  await page.goBack();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  expect(page.url()).toContain("/webhooks/new");
  expect(await page.getByRole("checkbox", { name: "All of order.*" }).isChecked()).toBe(true);
  await page.goBack();
  await page.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
  await page.waitForURL("**/webhooks");
  await page.getByRole("heading", { name: "Webhooks" }).waitFor();
  await page.context().close();
  expect(problems).toEqual([]);
});

test("examples of the catalogue keep the digits of their numbers", async () => {
  const { page, server } = world;
  const data = '{"id":12345678901234567890,"price":1.10}';
  await fetch(`${server.origin}/v1/event-types`, {
    method: "POST",
    headers: { Authorization: `Bearer ${server.key}`, "Content-Type": "application/json" },
    body: `{"name": "exact.sent", "example": ${data}}`,
  });
  const url = world.receiver.on("/exact", { status: 400, body: "the price is missing" });
  await world.goto("/webhooks/new");
  await field(page, "URL").fill(url);
  await field(page, "Name").fill("exact");
  await page.getByRole("checkbox", { name: "exact.sent" }).check();
  await page.getByText("The webhook would receive this event").waitFor();
  const request = page.getByRole("region", { name: "body of the request" });
  await request.getByText('"price": 1.10').waitFor();
  expect(await request.textContent()).toContain("12345678901234567890");
  await page.getByRole("button", { name: "Create webhook" }).click();
  await page.getByRole("button", { name: "Send a test event" }).click();

  // A receiver that refuses says why.
  await page.getByText("The test event failed").waitFor();
  await page.getByRole("region", { name: "response body" }).getByText("price is missing").waitFor();
  await expectAccessible(page);
  const sent = world.receiver.received.find((each) => each.path === "/exact");
  expect(sent?.body.replaceAll(/\s/g, "")).toContain(data);
  await page.getByRole("link", { name: "Open the delivery" }).click();
  await page.getByRole("heading", { name: "exact.sent" }).waitFor();

  const hook = await stored("exact");
  await world.goto(`/webhooks/${hook?.id ?? ""}?tab=test`);
  await page.getByRole("textbox", { name: "Event type" }).fill("exact.sent");
  const test = page.getByRole("textbox", { name: "Data" });
  await until("the example", async () => (await test.inputValue()).includes("1.10"));
  expect(await test.inputValue()).toContain("12345678901234567890");
  await world.goto("/events/new?type=exact.sent");
  const publish = page.getByRole("textbox", { name: "Data", exact: true });
  expect(await publish.inputValue()).toContain("12345678901234567890");
});

test("an error that is about no field is brought into view", async () => {
  const { page } = world;
  world.watched.expectProblem(/429/);
  await world.server.call("POST", "/v1/tenants", { id: "small" });
  await world.server.call("PUT", "/v1/tenants/small/limits", { webhooks_max: 1 });
  await world.webhook("first", 200, { tenant_id: "small" });
  await world.goto("/webhooks/new");
  await page.getByRole("checkbox", { name: "All events" }).check();
  await field(page, "URL").fill("http://127.0.0.1:1/");
  await page.getByRole("textbox", { name: "Tenant" }).fill("small");
  await page.getByRole("button", { name: "Create webhook" }).click();
  const alert = page.getByRole("alert").filter({ hasText: "Request id" });
  await until("the focus", () =>
    alert.evaluate((element) => document.activeElement?.contains(element) ?? false),
  );
  const box = await alert.boundingBox();
  expect(box && box.y > 56 && box.y + box.height < 900).toBe(true);
});
