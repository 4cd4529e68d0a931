import { expect, test } from "vitest";

import { expectAccessible, openPage, signIn } from "./harness/browser.ts";
import { until } from "./harness/server.ts";
import { makeWorld } from "./harness/world.ts";

const world = makeWorld();

test("an empty list leads to the form, and a form without webhooks says so", async () => {
  const { page } = world;
  await world.goto("/events");
  await page.getByText("There are no events yet").waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Publish the first one" }).click();
  await page.getByRole("textbox", { name: "Event type" }).fill("order.paid");
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await page.getByText("no webhook wants it").waitFor();
});

test("an event is published from the example of the catalogue and reaches its webhooks", async () => {
  const { page, server, receiver } = world;
  await server.call("POST", "/v1/event-types", {
    name: "invoice.sent",
    example: { invoice: 7, total: 12.5 },
  });
  await world.webhook("books", 200, { events: ["invoice.*"] });
  await world.webhook("broken", 500, { events: ["invoice.*"] });
  await world.goto("/events/new");
  await page.getByRole("textbox", { name: "Event type" }).fill("invoice");
  await page.getByRole("option", { name: "invoice.sent" }).click();
  const data = page.getByRole("textbox", { name: "Data", exact: true });
  expect(await data.inputValue()).toContain('"total": 12.5');

  await data.fill('{"invoice": 12345678901234567890,}');
  await page.getByText("Line 1, column 34: A name in double quotes is missing.").waitFor();
  expect(await page.getByRole("button", { name: "Publish", exact: true }).isDisabled()).toBe(true);
  await expectAccessible(page);
  await data.fill('{"invoice": 12345678901234567890, "price": 1.0}');
  await page.getByRole("textbox", { name: "Resource" }).fill("invoice-7");
  await page.getByRole("textbox", { name: "Idempotency key" }).fill("once");
  await page.getByText("high", { exact: true }).click();
  await page.getByRole("button", { name: "More fields" }).click();
  await page.getByRole("textbox", { name: "Metadata" }).fill('{"team": "billing"}');
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await page.getByText("It is on its way to 2 webhooks.").waitFor();
  await expectAccessible(page);

  await page.getByRole("button", { name: "Publish again" }).click();
  await page.getByText("Nothing new was published").waitFor();
  await page.getByRole("link", { name: "See the event" }).click();
  await page.getByRole("heading", { name: "invoice.sent" }).waitFor();
  const received = await until("the request", () =>
    receiver.received.find((each) => each.path === "/books"),
  );
  expect(received.body).toContain('{"invoice": 12345678901234567890, "price": 1.0}');
  await page.getByRole("row", { name: /books/ }).getByText("succeeded").waitFor();
  await page
    .getByRole("row", { name: /broken/ })
    .getByText("retrying")
    .waitFor();
  // As it was published: a parser would have changed the numbers.
  const shown = page.getByRole("region", { name: "data", exact: true });
  expect(await shown.textContent()).toContain('"invoice": 12345678901234567890');
  expect(await shown.textContent()).toContain('"price": 1.0');
  await page.getByRole("region", { name: "metadata" }).getByText("billing").waitFor();
  await page.getByText("invoice-7").waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Publish one like this" }).click();
  await until("the copy", async () =>
    (await page.getByRole("textbox", { name: "Data", exact: true }).inputValue()).includes("1.0"),
  );
});

test("the list filters in the address bar and pages by cursor", async () => {
  const { page } = world;
  await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      world.publish("ping.sent", { index }, { resource_id: `r${index}` }),
    ),
  );
  await world.goto("/events?event_type=ping.*");
  await page.getByText("50 rows").waitFor();
  await page.getByRole("button", { name: "Next page" }).click();
  await page.getByText("10 rows").waitFor();
  await page.getByRole("button", { name: "First page" }).click();
  await page.getByText("50 rows").waitFor();
  await page.getByRole("textbox", { name: "Resource" }).fill("r17");
  await page.getByText("1 row", { exact: true }).waitFor();
  expect(page.url()).toContain("resource_id=r17");
  await page.getByRole("textbox", { name: "Resource" }).fill("nothing");
  await page.getByText("No event matches").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByText("50 rows").waitFor();
  await world.goto("/events?matched=true");
  await page.getByRole("link", { name: "invoice.sent" }).waitFor();
  expect(await page.getByRole("link", { name: "ping.sent" }).count()).toBe(0);
});

test("what the catalogue refuses is explained at its field, also in the dark", async () => {
  const { page, server } = world;
  await server.call("POST", "/v1/event-types", {
    name: "user.created",
    schema: { type: "object", required: ["email"] },
    example: { email: "a@example.com" },
  });
  await world.goto("/events/new?type=user.created");
  await page.getByRole("textbox", { name: "Data", exact: true }).fill("{}");
  world.watched.expectProblem(/422/);
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await page
    .getByRole("alert")
    .getByText(/Request id/)
    .waitFor();
  await page.getByRole("button", { name: "Use the example of user.created" }).click();
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await page.getByText("user.created is published").waitFor();

  const dark = await openPage(world.browser, { dark: true, width: 390 });
  await signIn(dark.page, server, world.origin);
  for (const path of ["/events", "/events/new"]) {
    await dark.page.goto(world.origin + path);
    await dark.page.getByRole("heading", { level: 1 }).waitFor();
    await expectAccessible(dark.page);
  }
  expect(dark.problems).toEqual([]);
  await dark.page.context().close();
});

test("a blocked delivery says what holds it back, not when a retry was due", async () => {
  const { page, server } = world;
  const hook = await world.webhook("held", 500, { events: ["held.*"] });
  const event = await world.publish("held.sent");
  interface List {
    data: { id: string; status: string }[];
  }
  await until("the first attempt", async () => {
    const path = `/v1/webhooks/${hook.id}/deliveries?status=retrying`;
    return (await server.call<List>("GET", path)).data.length === 1;
  });
  await server.call("POST", `/v1/webhooks/${hook.id}/pause`, {});
  for (const path of [`/events/${event.id}`, `/webhooks/${hook.id}?tab=deliveries`]) {
    await world.goto(path);
    await page.getByRole("cell", { name: "Webhook paused" }).waitFor();
  }
  await page.waitForFunction(() => document.title === "held · Webhooks · Postrider");
});
