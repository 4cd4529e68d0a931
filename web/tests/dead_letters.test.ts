import { expect, test } from "vitest";

import { expectAccessible, openPage, signIn } from "./harness/browser.ts";
import { until } from "./harness/server.ts";
import { makeWorld } from "./harness/world.ts";

const world = makeWorld();
const noBreaker = { circuit_breaker_config: { enabled: false } };

const deadLetters = (query: string, count: number) =>
  until(`${count} dead letters with ${query}`, async () => {
    const list = await world.server.call<{ data: object[] }>("GET", `/v1/dlq?limit=250&${query}`);
    return list.data.length === count;
  });

async function publishMany(type: string, count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, index) => ({ type, data: { index } }));
  await world.server.call("POST", "/v1/events/batch", { events });
}

const row = (text: string) => world.page.getByRole("row").filter({ hasText: text });
const group = (name: string) =>
  world.page.getByRole("region", { name: "Groups of dead letters" }).getByRole("button", { name });

test("without dead letters the page says what they are", async () => {
  await world.goto("/dead-letters");
  await world.page.getByText("There are no dead letters").waitFor();
  expect(await world.page.getByRole("button", { name: "Retry all" }).isDisabled()).toBe(true);
  await expectAccessible(world.page);
});

test("dead letter dashboard", async () => {
  const { page } = world;
  const fields = { retry_config: { max_attempts: 1 }, ...noBreaker };
  await world.webhook("shop", 404, { events: ["shop.*"], ...fields });
  await world.webhook("till", 503, { events: ["till.*"], ...fields });
  await publishMany("shop.sold", 3);
  await publishMany("till.opened", 2);
  await deadLetters("", 5);

  await world.goto("/dead-letters");
  await page.getByText("5 dead letters in all").waitFor();
  expect(await group("shop").textContent()).toContain("3");
  expect(await group("till").textContent()).toContain("2");
  await page.getByText("Failure", { exact: true }).first().click();
  await group("client error").waitFor();
  await group("server error").click(); // Narrows the list.
  await page.getByText("2 dead letters match the filters").waitFor();
  await row("shop.sold").first().waitFor({ state: "detached" });
  expect(page.url()).toContain("failure_category=server_error");
  expect(await row("till.opened").first().textContent()).toContain("max attempts exceeded");
  await group("client error").waitFor(); // The other group can still be selected.
  await expectAccessible(page);
  await group("server error").click();
  for (const [by, name] of [
    ["Event type", "shop.sold"],
    ["Age", "Less than 1 hour"],
    ["Classification", "permanent"],
  ] as const) {
    await page.getByLabel("Group by").getByText(by).click();
    await group(name).waitFor();
  }

  world.receiver.on("/till", { status: 200 });
  await row("till.opened").first().getByRole("button", { name: "Retry till.opened" }).click();
  await page.getByText("4 dead letters in all").waitFor();
  await row("till.opened").getByRole("checkbox").check();
  await page.getByRole("button", { name: "Retry 1 selected" }).click();
  await row("till.opened").waitFor({ state: "detached" });
  await page.getByText("3 dead letters in all").waitFor();
});

test("a bulk retry tells the count first, then its progress and outcome", async () => {
  const { page } = world;
  const hook = await world.webhook("bulk", 500, {
    events: ["bulk.*"],
    retry_config: { max_attempts: 1 },
    ...noBreaker,
  });
  await publishMany("bulk.one", 6);
  await deadLetters("event_type=bulk.one", 6);
  world.receiver.on("/bulk", { status: 200 });

  await world.goto(`/dead-letters?webhook_id=${hook.id}`);
  await page.getByRole("button", { name: "Retry matching" }).click();
  const form = page.getByRole("dialog", { name: "Retry dead letters" });
  await form.getByText("6 deliveries are retried: all that match the filters.").waitFor();
  await expectAccessible(page);
  await form.getByRole("textbox", { name: "At most per second" }).fill("50");
  await form.getByRole("textbox", { name: "Priority" }).click();
  await page.getByRole("option", { name: "High" }).click();
  await form.getByRole("button", { name: "Retry 6" }).click();

  const panel = page.getByRole("region", { name: "Operation" });
  await panel.locator("[data-status=completed]").waitFor();
  expect(await panel.locator("[data-outcome=Requeued]").textContent()).toBe("Requeued6");
  expect(await panel.locator("[data-outcome=Succeeded]").textContent()).toBe("Succeeded6");
  expect(await panel.locator("[data-outcome='Dead again']").textContent()).toBe("Dead again0");
  await page.getByText("No dead letter matches").waitFor();
  await page.reload(); // The address knows the operation.
  await panel.locator("[data-status=completed]").waitFor();
  await expectAccessible(page);
  await panel.getByRole("button", { name: "Hide this operation" }).click();
  await panel.waitFor({ state: "detached" });
});

test("a bulk retry for later is scheduled, listed and cancelled", async () => {
  const { page } = world;
  await world.goto("/dead-letters?event_type=shop.*");
  await page.getByRole("button", { name: "Retry matching" }).click();
  const form = page.getByRole("dialog", { name: "Retry dead letters" });
  await form.getByText("At a time").click();
  const start = form.getByRole("button", { name: "Retry 3" });
  await start.waitFor();
  expect(await start.isDisabled()).toBe(true); // Until there is a time.
  const later = new Date(Date.now() + 3_600_000).toISOString().slice(0, 16);
  await form.getByLabel("Start at").fill(later);
  const repeat = form.getByRole("textbox", { name: "Repeat every" });
  await repeat.fill("5 s");
  await form.getByText("Enter a duration from 1 min to 30 d").waitFor();
  expect(await start.isDisabled()).toBe(true);
  await repeat.fill("2 h");
  await start.click();
  await page.locator("[data-operation=scheduled]").waitFor();

  await world.goto("/operations");
  const listed = row("Bulk retry").filter({ hasText: "scheduled" });
  await listed.waitFor();
  expect(await listed.textContent()).toMatch(/starts in \d+ min/);
  await page.getByRole("columnheader", { name: "Started by" }).waitFor();
  const log = await world.server.call<{ data: { actor: string; actor_name: string }[] }>(
    "GET",
    "/v1/audit-log?action=dead_letters.retry&limit=1",
  );
  const starter = log.data[0]?.actor_name || log.data[0]?.actor || "nobody";
  await listed.getByText(starter, { exact: true }).waitFor();
  expect(await row("Bulk retry").filter({ hasText: "completed" }).textContent()).toContain(
    "6 requeued, 6 succeeded, 0 dead again, 0 waiting",
  );
  await expectAccessible(page);
  await listed.getByRole("button", { name: "Bulk retry", exact: true }).click();
  const drawer = page.getByRole("dialog", { name: "Bulk retry" });
  await drawer.getByRole("row").filter({ hasText: "Covers" }).getByText("shop.*").waitFor();
  await drawer.getByRole("row").filter({ hasText: "Pace" }).getByText("every 2 h").waitFor();
  await drawer.getByRole("button", { name: "Cancel operation" }).click();
  const question = page.getByRole("dialog", { name: "Cancel this bulk retry?" });
  await question.getByRole("button", { name: "Cancel operation" }).click();
  await drawer.locator("[data-status=cancelled]").waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await page.getByRole("textbox", { name: "State" }).click();
  await page.getByRole("option", { name: "cancelled" }).click();
  await row("completed").waitFor({ state: "detached" });
  expect(page.url()).toContain("status=cancelled");
});

test("discarding tells the count, and many need a typed word", async () => {
  const { page } = world;
  await world.webhook("bin", 404, { events: ["bin.*"], ...noBreaker });
  await publishMany("bin.many", 101);
  await publishMany("bin.few", 2);
  await deadLetters("event_type=bin.*", 103);

  await world.goto("/dead-letters?event_type=bin.few");
  await page.getByRole("button", { name: "Discard matching" }).click();
  const few = page.getByRole("dialog", { name: "Discard 2 dead letters?" });
  await few.waitFor();
  await expectAccessible(page);
  await few.getByRole("button", { name: "Cancel" }).click(); // Changes nothing.
  await few.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Discard matching" }).click();
  await few.getByRole("button", { name: "Discard 2" }).click();
  await page.locator("[data-operation=completed]").waitFor();
  await page.getByText("No dead letter matches").waitFor();
  await deadLetters("event_type=bin.*", 101);

  await world.goto("/dead-letters?event_type=bin.many");
  await row("bin.many").first().waitFor();
  expect(await page.locator("tbody tr").count()).toBe(50); // A page at most.
  await page.getByRole("button", { name: "Discard matching" }).click();
  const many = page.getByRole("dialog", { name: "Discard 101 dead letters?" });
  const yes = many.getByRole("button", { name: "Discard 101" });
  await yes.waitFor();
  expect(await yes.isDisabled()).toBe(true);
  await many.getByRole("textbox", { name: "Type discard to confirm" }).fill("discard");
  await yes.click();
  await page.locator("[data-operation=completed]").waitFor();
  expect(await page.locator("[data-outcome=Discarded]").textContent()).toBe("Discarded101");
  await deadLetters("event_type=bin.*", 0);
});

test("selected dead letters are discarded, and only they", async () => {
  const { page } = world;
  for (const name of ["first-bin", "second-bin"]) {
    await world.webhook(name, 404, { events: ["picked.*"], ...noBreaker });
  }
  await publishMany("picked.one", 2);
  await deadLetters("event_type=picked.one", 4);
  await world.goto("/dead-letters?event_type=picked.one");
  const discard = page.getByRole("button", { name: "Discard selected" });
  await row("picked.one").first().waitFor();
  expect(await discard.isDisabled()).toBe(true);
  for (const index of [0, 1, 2]) {
    await row("picked.one").nth(index).getByRole("checkbox").check();
  }
  await page.getByRole("button", { name: "Discard 3 selected" }).click();
  const question = page.getByRole("dialog", { name: "Discard 3 dead letters?" });
  await question.waitFor();
  await expectAccessible(page);
  await question.getByRole("button", { name: "Cancel" }).click();
  await question.waitFor({ state: "detached" });
  await deadLetters("event_type=picked.one", 4);
  await page.getByRole("button", { name: "Discard 3 selected" }).click();
  await question.getByRole("button", { name: "Discard 3" }).click();
  await page.getByText("3 dead letters are discarded.").waitFor();
  await deadLetters("event_type=picked.one", 1);
  await page.getByText("1 row", { exact: true }).waitFor();
  await world.server.call("DELETE", "/v1/dlq?event_type=picked.*");
});

test("in dark and on a phone, hostile names are text", async () => {
  const name = "<img src=x onerror=alert(1)>";
  const url = world.receiver.on("/hostile", { status: 404, body: "<script>alert(2)</script>" });
  await world.server.call("POST", "/v1/webhooks", { url, events: ["hostile.*"], name });
  await world.publish("hostile.one");
  await deadLetters("event_type=hostile.one", 1);
  const watched = await openPage(world.browser, { dark: true, width: 390, height: 800 });
  const { page } = watched;
  await signIn(page, world.server, world.origin);
  await page.goto(`${world.origin}/dead-letters?event_type=hostile.*`);
  await page.getByRole("link", { name }).waitFor();
  await page.locator("[data-group]").filter({ hasText: name }).waitFor();
  await expectAccessible(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await page.goto(`${world.origin}/operations`);
  await page.getByRole("button", { name: "Discard" }).first().waitFor();
  await expectAccessible(page);
  await page.context().close();
  expect(watched.problems).toEqual([]);
});
