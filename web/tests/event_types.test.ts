import { expect, test } from "vitest";

import { expectAccessible } from "./harness/browser.ts";
import { makeWorld } from "./harness/world.ts";

const world = makeWorld();

test("types of the server are shown and cannot be changed or chosen", async () => {
  const { page } = world;
  await world.goto("/event-types");
  await page.getByText("The catalogue is empty").waitFor();
  await page.getByRole("textbox", { name: "Published by" }).click();
  await page.getByRole("option", { name: "The server" }).click();
  await page.getByRole("link", { name: "postrider.alert.raised" }).click();
  await page.getByText("Only the server publishes this type").waitFor();
  await page.getByRole("region", { name: "schema" }).waitFor();
  await expectAccessible(page);
  for (const name of ["Archive", "Delete", "Publish an event"]) {
    expect(await page.getByRole("button", { name }).count(), name).toBe(0);
    expect(await page.getByRole("link", { name }).count(), name).toBe(0);
  }
  await world.goto("/webhooks/new");
  await page.getByRole("checkbox", { name: "All events" }).waitFor();
  expect(await page.getByText(/postrider\./).count()).toBe(0);
});

test("an event type is created, checked, changed, archived, restored and deleted", async () => {
  const { page, server, watched } = world;
  await world.goto("/event-types");
  await page.getByText("The catalogue is empty").waitFor();
  await page.getByRole("link", { name: "Create the first event type" }).click();

  const create = page.getByRole("button", { name: "Create event type" });
  const schema = page.getByRole("textbox", { name: "Schema" });
  await page.getByRole("textbox", { name: "Name" }).fill("order.paid");
  await schema.fill('{"type": "object",\n "required": [id]}');
  await page.getByText("Line 2, column 15: This is not a value.").waitFor();
  expect(await create.isDisabled()).toBe(true);
  await schema.fill("[1]");
  await page.getByText("A schema is a JSON object.").waitFor();
  await expectAccessible(page);
  // What only the server can know is shown at the field, too.
  await schema.fill('{"type": "nonsense"}');
  watched.expectProblem(/422/);
  await create.click();
  await page.getByRole("alert").waitFor();
  await schema.fill('{"type":"object","required":["id"]}');
  await page.getByRole("button", { name: "Indent" }).click();
  expect(await schema.inputValue()).toBe(
    '{\n  "type": "object",\n  "required": [\n    "id"\n  ]\n}',
  );
  await page.getByRole("textbox", { name: "Example" }).fill('{"id": 12345678901234567890}');
  await page.getByRole("textbox", { name: "Description" }).fill("An order was paid.");
  await create.click();

  await page.getByRole("heading", { name: "order.paid" }).waitFor();
  await page.getByText("against the schema").waitFor();
  const example = page.getByRole("textbox", { name: "Example" });
  expect(await example.inputValue()).toContain("12345678901234567890");
  await expectAccessible(page);
  await page.getByRole("switch", { name: /do not match the schema/ }).click();
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByText("switched off").waitFor();

  await page.getByRole("button", { name: "Archive" }).click();
  await page.getByRole("dialog").getByText("refuses events of this type").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Archive" }).click();
  await page.getByText("This event type is archived").waitFor();
  await page.getByRole("button", { name: "Restore" }).click();
  await page.getByText("This event type is archived").waitFor({ state: "detached" });
  expect(await server.call("GET", "/v1/event-types/order.paid")).toMatchObject({
    archived: false,
    validate: false,
    description: "An order was paid.",
  });

  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete event type" }).click();
  await page.getByText("The catalogue is empty").waitFor();
});

test("the list shows and filters the catalogue", async () => {
  const { page, server } = world;
  await server.call("POST", "/v1/event-types", { name: "user.created", description: "A new user" });
  await server.call("POST", "/v1/event-types", { name: "user.deleted", archived: true });
  await world.goto("/event-types");
  await page.getByRole("link", { name: "user.created" }).waitFor();
  await page.getByText("A new user").waitFor();
  await expectAccessible(page);
  await page.getByRole("textbox", { name: "State" }).click();
  await page.getByRole("option", { name: "Archived" }).click();
  await page.getByRole("link", { name: "user.created" }).waitFor({ state: "detached" });
  expect(page.url()).toContain("archived=true");
  await page.getByRole("link", { name: "user.deleted" }).click();
  await page.getByText("This event type is archived").waitFor();
});

test("a name that cannot be one says so, and an unknown type is an answer", async () => {
  const { page } = world;
  await world.goto("/event-types/new");
  const name = page.getByRole("textbox", { name: "Name" });
  await name.fill("order paid");
  await page.getByText("in parts separated by single dots").waitFor();
  await name.fill("order.");
  await page.getByText("in parts separated by single dots").waitFor({ state: "detached" });
  await page.getByRole("textbox", { name: "Description" }).click();
  await page.getByText("in parts separated by single dots").waitFor();
  await expectAccessible(page);

  world.watched.expectProblem(/404/);
  await world.goto("/event-types/show/no.such");
  await page.getByText("There is no such event type").waitFor();
  await world.goto("/events/evt_01aaaaaaaaaaaaaaaaaaaaaaaa");
  await page.getByText("There is no such event", { exact: true }).waitFor();
  await world.goto("/tenants/nobody");
  await page.getByText("There is no such tenant").waitFor();
});
