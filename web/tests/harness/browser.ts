// Debian's Chromium. A page fails its test on any console error, violation of the content security
// policy, failed request or exception in a script.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { type Browser, chromium, type Page } from "playwright-core";
import { createServer, type ViteDevServer } from "vite";
import { expect } from "vitest";

import type { Server } from "./server.ts";

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve("axe-core/axe.min.js"),
  "utf8",
);

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });

/**
 * With POSTRIDER_DEV_PAGES=1, the pages come from Vite and the operator is signed in: no build is
 * needed while a page is being written. Tests that sign in themselves do not work in this way.
 */
export async function pagesOf(
  server: Server,
): Promise<{ origin: string; close: () => Promise<void> }> {
  if (!process.env["POSTRIDER_DEV_PAGES"]) {
    return { origin: server.origin, close: () => Promise.resolve() };
  }
  process.env["POSTRIDER_SERVER"] = server.origin;
  process.env["POSTRIDER_KEY"] = server.key;
  const vite: ViteDevServer = await createServer({ server: { host: "127.0.0.1", port: 0 } });
  await vite.listen();
  const origin = vite.resolvedUrls?.local[0]?.replace(/\/$/, "") ?? "";
  return { origin, close: () => vite.close() };
}

export interface WatchedPage {
  page: Page;
  problems: string[];
  expectProblem: (text: RegExp) => void; // For tests that provoke one.
}

export interface PageOptions {
  dark?: boolean;
  width?: number;
  height?: number;
}

/** A page in a browser profile of its own. */
export async function openPage(browser: Browser, options: PageOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext({
    colorScheme: options.dark ? "dark" : "light",
    viewport: { width: options.width ?? 1280, height: options.height ?? 900 },
    permissions: ["clipboard-read", "clipboard-write"],
    timezoneId: "UTC",
    locale: "en-GB",
    reducedMotion: "reduce", // What fades in has less contrast for a moment.
  });
  const page = await context.newPage();
  const problems: string[] = [];
  const expected: RegExp[] = [];
  const add = (problem: string) => {
    if (!expected.some((text) => text.test(problem))) problems.push(problem);
  };
  page.on("pageerror", (error) => add(`exception: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") {
      add(`console: ${message.text()} (${message.location().url})`);
    }
  });
  page.on("requestfailed", (request) => {
    const reason = request.failure()?.errorText ?? "";
    if (!reason.includes("ERR_ABORTED")) add(`request: ${request.url()} ${reason}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) add(`response: ${response.status()} ${response.url()}`);
  });
  return { page, problems, expectProblem: (text) => expected.push(text) };
}

/** Signs in by a one-time link, as people do. */
export async function signIn(
  page: Page,
  server: Server,
  origin = server.origin,
  role: "admin" | "viewer" = "admin",
): Promise<void> {
  if (process.env["POSTRIDER_DEV_PAGES"]) {
    if (role === "viewer") await pretendToView(page);
    await page.goto(origin);
  } else {
    const link = await server.call<{ url: string }>("POST", "/v1/sign-in-links", { role });
    await page.goto(link.url);
  }
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
}

/** Vite's pages have the session of an administrator. */
async function pretendToView(page: Page): Promise<void> {
  await page.route("**/v1/sessions", async (route) => {
    const response = await route.fetch();
    const session = (await response.json()) as object;
    await route.fulfill({ response, json: { ...session, scope: "read", role: "viewer" } });
  });
}

/** Fails on violations of WCAG 2.2 A and AA that a program can find. */
export async function expectAccessible(page: Page): Promise<void> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axeSource);
  const violations = await page.evaluate(async () => {
    interface Result {
      violations: { id: string; help: string; nodes: { html: string }[] }[];
    }
    const { axe } = window as unknown as { axe: { run: (options: object) => Promise<Result> } };
    const { violations } = await axe.run({
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
    });
    return violations.map(
      ({ id, help, nodes }) => `${id}: ${help}\n  ${nodes.map((n) => n.html).join("\n  ")}`,
    );
  });
  expect(violations.join("\n")).toBe("");
}
