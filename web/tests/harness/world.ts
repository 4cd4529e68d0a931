// What a file of tests needs: one server and receiver for all its tests, and a fresh browser
// profile, signed in as an operator, for each.
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";

import { openBrowser, openPage, pagesOf, signIn, type WatchedPage } from "./browser.ts";
import { Receiver } from "./receiver.ts";
import { Server } from "./server.ts";

export class World {
  readonly server: Server;
  readonly receiver = new Receiver();
  browser!: Browser;
  origin = "";
  watched!: WatchedPage;

  constructor(flags: string[]) {
    this.server = new Server(flags);
  }

  get page(): Page {
    return this.watched.page;
  }

  goto(path: string) {
    return this.page.goto(this.origin + path);
  }

  /** Creates a webhook whose receiver answers with `status`. */
  async webhook(name: string, status = 200, fields: object = {}): Promise<{ id: string }> {
    const url = this.receiver.on(`/${name}`, { status });
    return this.server.call("POST", "/v1/webhooks", { url, events: ["*"], name, ...fields });
  }

  publish(type: string, data: unknown = {}, fields: object = {}): Promise<{ id: string }> {
    return this.server.call("POST", "/v1/events", { type, data, ...fields });
  }
}

/** Call once at the top of a test file. */
export function makeWorld(flags: string[] = []): World {
  const world = new World(flags);
  let closePages = () => Promise.resolve();
  beforeAll(async () => {
    await world.server.start();
    await world.receiver.start();
    world.browser = await openBrowser();
    const pages = await pagesOf(world.server);
    world.origin = pages.origin;
    closePages = pages.close;
  });
  afterAll(async () => {
    await closePages();
    await world.browser.close();
    await world.receiver.stop();
    await world.server.remove();
  });
  beforeEach(async () => {
    world.watched = await openPage(world.browser);
    await signIn(world.page, world.server, world.origin);
  });
  afterEach(async () => {
    await world.page.context().close();
    expect(world.watched.problems).toEqual([]);
  });
  return world;
}
