// Browsers of other people than the operator, signed in by real one-time links.
import type { Page } from "playwright-core";

import { openPage, type PageOptions, type WatchedPage } from "./browser.ts";
import type { World } from "./world.ts";

export type Visitor =
  { operator: "admin" | "viewer" } | { tenant: string; role?: "admin" | "viewer" };

interface LinkFields {
  session_seconds?: number;
  expires_in_seconds?: number;
  branding?: object;
}

export async function linkFor(
  world: World,
  visitor: Visitor,
  fields: LinkFields = {},
): Promise<string> {
  const [path, who] =
    "operator" in visitor
      ? ["/v1/sign-in-links", { role: visitor.operator }]
      : ["/v1/portal-links", { tenant_id: visitor.tenant, role: visitor.role ?? "admin" }];
  const link = await world.server.call<{ url: string }>("POST", path, { ...who, ...fields });
  return `${world.origin}/${new URL(link.url).hash}`;
}

export async function openAs(
  world: World,
  visitor: Visitor,
  fields: LinkFields = {},
  options: PageOptions = {},
): Promise<WatchedPage> {
  const watched = await openPage(world.browser, options);
  await watched.page.goto(await linkFor(world, visitor, fields));
  await watched.page.getByTestId("brand").waitFor();
  return watched;
}

/** Waits until a page shows its data. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await page.waitForFunction(
    () => document.querySelector(".mantine-Skeleton-root, .mantine-Loader-root") === null,
  );
}

/** Goes to a page as a link does: without loading the application again. */
export async function visit(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => history.pushState(null, "", to), path);
  await settled(page);
}
