import { expect, test } from "vitest";

import { expectAccessible, openPage, signIn } from "./harness/browser.ts";
import { until } from "./harness/server.ts";
import { makeWorld } from "./harness/world.ts";

const world = makeWorld();

interface Stats {
  total: { attempts: number; succeeded: number; failed: number; dead_letters: number };
}
const total = async () => (await world.server.call<Stats>("GET", "/v1/stats?period=1h")).total;
const stat = (label: string) => world.page.getByRole("group", { name: label, exact: true });

test("a first visit leads to the first webhook and event, and moves on by itself", async () => {
  const { page } = world;
  await world.goto("/");
  const steps = page.getByRole("region", { name: "First steps" });
  await steps.getByText("Nothing was sent yet").waitFor();
  await page.getByText("Nothing was sent in this time").waitFor();
  expect(await steps.getByRole("link", { name: "Create a webhook" }).getAttribute("href")).toBe(
    "/webhooks/new",
  );
  await steps.getByRole("link", { name: "Publish an event" }).waitFor();
  await expectAccessible(page);

  await world.webhook("orders");
  await page.locator("[data-stream=live]").waitFor();
  await world.publish("order.paid");
  await steps.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "orders" }).waitFor();
});

test("numbers, charts and the worst webhooks follow the traffic", async () => {
  const { page } = world;
  const before = await total();
  await world.webhook("broken", 400, { retry_config: { max_attempts: 1 } });
  await world.goto("/?range=1h");
  await page
    .getByRole("radio", { name: "1h" })
    .and(page.locator(":checked"))
    .waitFor({ state: "attached" });
  await page.locator("[data-stream=live]").waitFor();

  for (let i = 0; i < 3; i += 1) await world.publish("order.paid", { i });
  await until("the attempts", async () => (await total()).attempts === before.attempts + 6);
  const now = await total();
  await stat("Attempts").getByText(String(now.attempts), { exact: true }).waitFor();
  await stat("New dead letters").getByText("3", { exact: true }).waitFor();
  await page
    .getByRole("img", { name: `${now.succeeded} succeeded, ${now.failed} failed` })
    .waitFor();
  await page.getByRole("img", { name: /^Events\. \d+ events/ }).waitFor();
  await page.getByRole("img", { name: /^Response time\. p50 / }).waitFor();

  const rows = page.getByRole("table", { name: /worst first/ }).getByRole("row");
  await rows.nth(1).getByRole("link", { name: "broken" }).waitFor();
  await rows.nth(1).getByText("0 %", { exact: true }).waitFor();
  await rows.nth(2).getByRole("link", { name: "orders" }).waitFor();
  await rows.nth(2).getByText("100 %", { exact: true }).waitFor();

  await page.getByText("7d", { exact: true }).click();
  await page.waitForURL(/range=7d/);
  await expectAccessible(page);
});

test("a failure is told in words, with the request id", async () => {
  const { page } = world;
  world.watched.expectProblem(/500/);
  await page.route("**/v1/stats*", (route) =>
    route.fulfill({
      status: 500,
      contentType: "application/problem+json",
      headers: { "x-request-id": "req_example" },
      json: { title: "The store has failed", detail: "<b>Look</b> at the log.", code: "internal" },
    }),
  );
  await world.goto("/?range=30d");
  const problem = page.getByRole("alert").filter({ hasText: "The store has failed" });
  await problem.getByText("<b>Look</b> at the log.").waitFor();
  await problem.getByText("req_example").waitFor();
  await page.unroute("**/v1/stats*");
  await problem.getByRole("button", { name: "Try again" }).click();
  await problem.waitFor({ state: "detached" });
  await stat("Attempts").getByText(/^\d+$/).waitFor();
});

test("the state of this moment is shown beside the numbers of the time range", async () => {
  const { page } = world;
  const now = { waiting: 1_234, in_flight: 5, dead_letters: 6, open_circuits: 7 };
  await page.route("**/v1/stats*", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...((await response.json()) as object), now } });
  });
  await world.goto("/");
  for (const [label, text] of [
    ["Waiting", "1,234"],
    ["In flight", "5"],
    ["Dead letters", "6"],
    ["Open circuits", "7"],
  ] as const) {
    await stat(label).getByText(text, { exact: true }).waitFor();
  }
  await page.unroute("**/v1/stats*");
});

test("a viewer in the dark on a phone sees the numbers, and nothing overflows", async () => {
  const watched = await openPage(world.browser, { dark: true, width: 390 });
  await signIn(watched.page, world.server, world.origin, "viewer");
  await watched.page.getByRole("img", { name: /^Response time\. / }).waitFor();
  const overflow = await watched.page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow).toBe(0);
  await expectAccessible(watched.page);
  await watched.page.context().close();
  expect(watched.problems).toEqual([]);
});
