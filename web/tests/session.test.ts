// Signing in and out, expiry, tabs, and what stays in the browser.
import { expect, test } from "vitest";

import { expectAccessible, openPage } from "./harness/browser.ts";
import { until } from "./harness/server.ts";
import { linkFor, openAs, settled } from "./harness/visitors.ts";
import { makeWorld } from "./harness/world.ts";

const world = makeWorld();

test("a link works once and leaves nothing secret in the browser", async () => {
  const url = await linkFor(world, { operator: "admin" });
  const token = url.split("#token=")[1] ?? "";
  expect(token.length).toBeGreaterThan(20);
  const { page, problems, expectProblem } = await openPage(world.browser);
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(url);
  await page.getByTestId("brand").waitFor();
  expect(page.url()).toBe(`${world.origin}/`);
  expect(requests.filter((each) => each.includes(token))).toEqual([]);

  await page.goto(`${world.origin}/webhooks`);
  await settled(page);
  const cookies = await page.context().cookies();
  const cookie = cookies.find((each) => each.name === "postrider_session");
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/" });
  const kept = await page.evaluate(async () => {
    const session = (await (await fetch("/v1/sessions")).json()) as { csrf_token: string };
    return {
      csrf: session.csrf_token,
      text: [
        JSON.stringify(Object.entries(window.localStorage)),
        JSON.stringify(Object.entries(window.sessionStorage)),
        document.cookie,
        JSON.stringify(history.state),
        JSON.stringify(await indexedDB.databases()),
        location.href,
        document.documentElement.outerHTML,
      ].join("\n"),
    };
  });
  for (const secret of [token, kept.csrf, cookie?.value ?? "-", world.server.key]) {
    expect(kept.text).not.toContain(secret);
  }
  await page.goBack();
  expect(page.url()).not.toContain("token");

  const second = await openPage(world.browser);
  second.expectProblem(/410/);
  await second.page.goto(url);
  await second.page.getByText("The link is invalid or expired").waitFor();
  expect(second.page.url()).not.toContain(token);
  await expectAccessible(second.page);
  expect([...problems, ...second.problems]).toEqual([]);
  expectProblem(/./);
  await second.page.context().close();
  await page.context().close();
});

test("a wrong key is refused in words, a right one opens the page that was asked for", async () => {
  const { page, problems, expectProblem } = await openPage(world.browser, { dark: true });
  expectProblem(/401/);
  await page.goto(`${world.origin}/events?event_type=order.*`);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await expectAccessible(page);
  const key = page.getByRole("textbox", { name: "API key" });
  await key.fill("pk_wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").waitFor();
  expect(await key.inputValue()).toBe("");
  await expectAccessible(page);
  await key.fill(world.server.key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Events" }).waitFor();
  expect(page.url()).toContain("/events?event_type=order.*");
  expect(problems).toEqual([]);
  await page.context().close();
});

test("an expired session leads to the sign-in page and back to the same place", async () => {
  const { page, problems, expectProblem } = await openAs(
    world,
    { operator: "admin" },
    { session_seconds: 4 },
  );
  expectProblem(/401/);
  await page.getByRole("link", { name: "Alerts", exact: true }).click();
  await page.getByText("Past", { exact: true }).click();
  await page.getByText("The session has ended").waitFor();
  expect(await page.content()).not.toContain("Dead letters");
  await page.getByRole("textbox", { name: "API key" }).fill(world.server.key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Alerts", exact: true }).waitFor();
  expect(page.url()).toContain("/alerts?status=resolved");
  expect(problems).toEqual([]);
  await page.context().close();
});

test("signing out ends all tabs at once, and a link in one tab signs all in again", async () => {
  const { page, problems, expectProblem } = await openAs(world, { operator: "admin" });
  const context = page.context();
  const other = await context.newPage();
  await other.goto(`${world.origin}/webhooks`);
  await settled(other);
  const cookie = (await context.cookies()).find((each) => each.name === "postrider_session");
  await page.getByRole("button", { name: "Your session and preferences" }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await other.getByText("The session has ended").waitFor();
  expect(await context.cookies()).toEqual([]);
  const replayed = await fetch(`${world.origin}/v1/webhooks`, {
    headers: { Cookie: `postrider_session=${cookie?.value ?? ""}` },
  });
  expect(replayed.status).toBe(401);

  expectProblem(/401/);
  // Only the fragment changes: the page is not loaded again.
  const url = await linkFor(world, { operator: "viewer" });
  await page.evaluate((hash) => (location.hash = hash), new URL(url).hash);
  await page.getByTestId("brand").waitFor();
  expect(page.url()).not.toContain("token");
  await other.getByRole("heading", { name: "Webhooks", level: 1 }).waitFor();
  expect(await other.getByRole("link", { name: "Create webhook" }).count()).toBe(0);
  expect(problems).toEqual([]);
  await context.close();
});

test("a key that only publishes gets the form and nothing that would be refused", async () => {
  const { key } = await world.server.call<{ key: string }>("POST", "/v1/api-keys", {
    scope: "publish",
  });
  const { page, problems, expectProblem } = await openPage(world.browser);
  expectProblem(/401/);
  await page.goto(world.origin);
  await page.getByRole("textbox", { name: "API key" }).fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("This key can only publish events").waitFor();
  await page.getByRole("link", { name: "Publish an event" }).click();
  await page.getByRole("textbox", { name: "Event type" }).fill("order.paid");
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await page.getByText("order.paid is published").waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});

test("the keyboard is enough: palette, skip link, visible focus", async () => {
  const { page } = world;
  await world.goto("/webhooks");
  await settled(page);
  await page.keyboard.press("Control+k");
  const search = page.getByRole("textbox", { name: "Search" }).last();
  await search.waitFor();
  await expectAccessible(page);
  await until("the focus", () => search.evaluate((field) => field === document.activeElement));
  await page.keyboard.type("dead");
  await page.getByRole("button", { name: "Webhooks with “dead” in name or URL" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Dead letters", exact: true }).waitFor();
  // A webhook by its name, and what can be created.
  const hook = await world.webhook("palette-target");
  const openPalette = async () => {
    await search.waitFor({ state: "detached" });
    await page.keyboard.press("/");
    await until("the focus", () => search.evaluate((field) => field === document.activeElement));
  };
  await openPalette();
  await page.keyboard.type("palette-t");
  await page.getByRole("button", { name: "palette-target" }).first().click();
  await page.waitForURL(`**/webhooks/${hook.id}`);
  await openPalette();
  await page.keyboard.type("API key");
  await page.getByRole("button", { name: "Create an API key" }).click();
  await page.getByRole("dialog", { name: "Create API key" }).waitFor();
  await page.keyboard.press("Escape");
  await page.waitForURL("**/api-keys");
  await page.keyboard.press("/");
  await page.keyboard.type("ten");
  await page.keyboard.press("Escape");

  await world.goto("/tenants");
  await settled(page);
  await page.keyboard.press("Tab");
  const focused = () =>
    page.evaluate(() => {
      const element = document.activeElement as HTMLElement;
      const style = getComputedStyle(element);
      const box = element.getBoundingClientRect();
      return {
        text: element.innerText,
        id: element.id,
        outline: style.outlineStyle,
        visible: box.left >= 0 && box.width > 0,
      };
    });
  expect(await focused()).toMatchObject({ text: "Skip to the content", visible: true });
  await page.keyboard.press("Enter");
  expect((await focused()).id).toBe("content");
  await page.keyboard.press("Tab");
  expect((await focused()).outline).not.toBe("none");
});
