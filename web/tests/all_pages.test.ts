// Every page of the page table, filled with hostile text: it is shown as text, and every page can
// be used by everybody, in light and dark, wide and narrow.
import { beforeAll, expect, test } from "vitest";

import { expectAccessible } from "./harness/browser.ts";
import { type Ids, pathsFor } from "./harness/pagePaths.ts";
import { until } from "./harness/server.ts";
import { openAs, visit } from "./harness/visitors.ts";
import { makeWorld } from "./harness/world.ts";

const world = makeWorld();

const hostile =
  '"><script>window.hacked=1</script><img src=x onerror="window.hacked=1"><svg onload=window.hacked=1>';
const link = "javascript:window.hacked=1";
const everything = { operator: true, read: true, admin: true, publish: true };
let ids: Ids;

interface List {
  data: { id: string; status: string; webhook_id: string }[];
}

beforeAll(async () => {
  const { server, receiver } = world;
  await server.call("POST", "/v1/tenants", { id: "evil", name: hostile, metadata: { hostile } });
  await server.call("POST", "/v1/tenants", { id: "worse", name: hostile });
  await server.call("POST", "/v1/tenants/worse/suspend", { reason: hostile });
  await server.call("POST", "/v1/api-keys", { scope: "read", name: hostile });
  await server.call("POST", "/v1/event-types", {
    name: "order.paid",
    description: hostile,
    schema: { title: hostile, description: link },
    example: { note: hostile, link },
  });
  const answer = { body: hostile, headers: { "X-Note": hostile, "Content-Type": "text/html" } };
  const fields = { events: ["*"], description: hostile, metadata: { hostile }, name: hostile };
  const broken = await server.call<{ id: string }>("POST", "/v1/webhooks", {
    ...fields,
    url: receiver.on("/broken?a=%3Cscript%3E", { ...answer, status: 404 }),
  });
  await server.call("POST", "/v1/webhooks", {
    ...fields,
    url: receiver.on("/gone", { ...answer, status: 410 }),
  });
  await server.call("POST", "/v1/webhooks", { ...fields, url: receiver.on("/good", answer) });
  const event = await world.publish(
    "order.paid",
    { note: hostile, link, [hostile]: [hostile] },
    {
      resource_id: hostile,
      source: hostile,
      ordering_key: hostile,
      metadata: { [hostile]: link },
    },
  );
  const dead = await until("the dead letter", async () => {
    const found = await server.call<List>("GET", "/v1/deliveries?status=dead_letter");
    return found.data.find((each) => each.webhook_id === broken.id);
  });
  const channel = await server.call<{ id: string }>("POST", "/v1/notification-channels", {
    name: hostile,
    kind: "slack",
    target: { url: receiver.on("/chat?a=%3Cscript%3E", answer) },
  });
  await server.call("POST", `/v1/notification-channels/${channel.id}/test`);
  ids = {
    webhook: broken.id,
    event: event.id,
    delivery: dead.id,
    eventType: "order.paid",
    tenant: "evil",
    channel: channel.id,
  };
});

test.each([
  { name: "light and wide", options: { dark: false, width: 1280 } },
  { name: "dark and narrow", options: { dark: true, width: 390 } },
])(
  "every page is accessible and shows hostile text as text: $name",
  async ({ options }) => {
    const { page, problems } = await openAs(world, { operator: "admin" }, {}, options);
    const failures: string[] = [];
    for (const path of pathsFor(everything, ids)) {
      await visit(page, path);
      await expectAccessible(page).catch((error: unknown) =>
        failures.push(`${path}: ${String(error)}`),
      );
      const state = await page.evaluate(() => ({
        hacked: "hacked" in window,
        images: document.querySelectorAll('img[src="x"], svg[onload]').length,
        links: document.querySelectorAll('a[href^="javascript"]').length,
        overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        title: document.title,
        collapsed: [...document.querySelectorAll("th[scope=col]")]
          .filter((cell) => cell.clientWidth < 80)
          .map((cell) => cell.textContent),
      }));
      expect(state, path).toMatchObject({ hacked: false, images: 0, links: 0 });
      expect(state.title).not.toBe("");
      if (state.collapsed.length > 0) failures.push(`${path}: narrow ${state.collapsed.join()}`);
      if (state.overflow > 0) failures.push(`${path} is ${state.overflow} px too wide`);
    }
    expect(failures).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
  },
  240_000,
);

test("hostile text can be read where it belongs", async () => {
  const { page } = world;
  const places: [string, string][] = [
    [`/events/${ids.event}`, "window.hacked=1"],
    ["/tenants/evil", hostile],
    ["/tenants/worse", hostile],
    ["/api-keys", hostile],
    ["/notifications", hostile],
    [`/notifications/${ids.channel}`, hostile],
    ["/webhooks", hostile],
    [`/webhooks/${ids.webhook}`, hostile],
  ];
  for (const [path, text] of places) {
    await visit(page, path);
    await page.getByText(text).first().waitFor();
  }
  await visit(page, `/deliveries/${ids.delivery}`);
  await page.getByText("<script>").first().waitFor();
});
