import { expect, test } from "vitest";

import { expectAccessible, openPage, signIn } from "./harness/browser.ts";
import { until } from "./harness/server.ts";
import { makeWorld } from "./harness/world.ts";

const world = makeWorld();

interface Row {
  id: string;
  webhook_id: string;
  status: string;
}

/** The only delivery of this event type, once it is in this state. */
const delivery = (type: string, status: string) =>
  until(`${type} to be ${status}`, async () => {
    const list = await world.server.call<{ data: Row[] }>(
      "GET",
      `/v1/deliveries?event_type=${type}`,
    );
    return list.data.find((each) => each.status === status);
  });

const shell = "it's <b>";

test("a failure is seen, understood and replayed", async () => {
  const { page } = world;
  await world.webhook("till", 404, { events: ["till.*"], retry_config: { max_attempts: 3 } });
  await world.publish("till.opened", { note: shell });
  const { id } = await delivery("till.opened", "dead_letter");

  await world.goto("/deliveries");
  await page.getByRole("link", { name: "till.opened" }).click();
  await page.getByRole("heading", { name: "till.opened" }).waitFor();
  expect(page.url()).toContain(`/deliveries/${id}`);
  await page.getByText("permanent client error 404 (permanent)").waitFor();
  await page.getByText("1 / 3").waitFor();
  await page.getByText("The receiver answered 404.").waitFor();
  for (const stage of ["DNS", "Connect", "TLS", "First byte", "Rest of the response", "Total"]) {
    await page.getByRole("rowheader", { name: stage, exact: true }).waitFor();
  }
  await page.getByRole("region", { name: "Body of the request of attempt 1" }).waitFor();
  await page.getByLabel("How to show the request of attempt 1").getByText("Raw").click();
  const raw = page.getByRole("region", { name: "Raw request of attempt 1" });
  expect(await raw.textContent()).toContain(`{"note":${JSON.stringify(shell)}}`);
  await page.getByRole("button", { name: "Copy as curl" }).click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toMatch(/^curl -X POST 'http:\/\/127\.0\.0\.1:\d+\/till'/);
  expect(copied).toContain("it'\\''s <b>");
  await expectAccessible(page);

  world.receiver.on("/till", { status: 200, body: '{"taken": true}' });
  await page.getByRole("button", { name: "Retry with a priority" }).click();
  await page.getByRole("menuitem", { name: "Retry with high priority" }).click();
  await page.locator("dd [data-status=succeeded]").waitFor();
  await page.getByRole("button", { name: /Attempt 2 .*retried by hand/ }).waitFor();
  await page.getByRole("region", { name: "Body of the response of attempt 2" }).waitFor();
  const times = await page
    .locator("ol > li")
    .evaluateAll((items) => items.map((item) => item.getAttribute("data-attempt")));
  expect(times).toEqual(["2", "1"]); // Newest first.
  await page.getByRole("button", { name: "Send again", exact: true }).click();
  await page.getByText("will get it once more").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
});

test("a blocked delivery tells its blocker, and goes on by itself", async () => {
  const { page } = world;
  const { id } = await world.webhook("held", 200, { events: ["held.*"] });
  await world.server.call("POST", `/v1/webhooks/${id}/pause`, {});
  await world.publish("held.one");
  const held = await delivery("held.one", "pending");
  await world.goto(`/deliveries/${held.id}`);
  await page.getByText("Webhook paused").waitFor();
  await page.getByText("The delivery has not been attempted yet.").waitFor();
  await expectAccessible(page);
  await world.server.call("POST", `/v1/webhooks/${id}/resume`, {});
  await page.locator("dd [data-status=succeeded]").waitFor();
  await page.getByRole("button", { name: /^Attempt 1/ }).waitFor();

  const action = { action: "force_open", duration_seconds: 600 };
  await world.server.call("PATCH", `/v1/webhooks/${id}/circuit-breaker`, action);
  await world.publish("held.two");
  const second = await delivery("held.two", "pending");
  await world.goto(`/deliveries/${second.id}`);
  await page.getByText(/^Circuit open, ends in \d+ min/).waitFor();
  await page.getByRole("heading", { name: "Held back by the circuit" }).waitFor();
  await page.getByRole("cell", { name: "opened by hand" }).waitFor();
  await page.getByRole("button", { name: "Cancel delivery" }).click();
  await page.getByText("It is not attempted any more.").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Keep it" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Cancel delivery" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel delivery" }).click();
  await page.locator("dd [data-status=cancelled]").waitFor();
  await delivery("held.two", "cancelled");
});

test("what publishers and receivers send is shown as text, also in dark and on a phone", async () => {
  const script = '<script>alert("x")</script><img src=x onerror=alert(1)>';
  const url = world.receiver.on("/hostile", {
    status: 500,
    body: script,
    headers: { "X-Hostile": script, "Content-Type": "text/html" },
  });
  const fields = { events: ["hostile.*"], headers: { "X-Custom": script } };
  await world.server.call("POST", "/v1/webhooks", { url, name: script, ...fields });
  await world.publish("hostile.sent", { [script]: script, long: "x".repeat(2_000) });
  const { id } = await delivery("hostile.sent", "retrying");
  const watched = await openPage(world.browser, { dark: true, width: 390, height: 800 });
  const { page } = watched;
  await signIn(page, world.server, world.origin);
  await page.goto(`${world.origin}/deliveries/${id}`);
  await page.getByRole("link", { name: script }).waitFor();
  const response = page.getByRole("region", { name: "Body of the response of attempt 1" });
  expect(await response.textContent()).toBe(script);
  expect(await page.getByRole("cell", { name: script }).count()).toBe(2); // Both headers.
  await page.getByLabel("How to show the response of attempt 1").getByText("Raw").click();
  await page.getByRole("region", { name: "Raw response of attempt 1" }).waitFor();
  expect(await page.locator("img[src=x]").count()).toBe(0);
  await expectAccessible(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await page.context().close();
  expect(watched.problems).toEqual([]);
});

test("an unknown delivery is an answer, not an error", async () => {
  world.watched.expectProblem(/404/);
  await world.goto("/deliveries/dlv_01aaaaaaaaaaaaaaaaaaaaaaaa");
  await world.page.getByText("There is no such delivery").waitFor();
});
