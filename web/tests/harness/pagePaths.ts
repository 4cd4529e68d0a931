// Every page of the application, with ids that exist.
import type { Rights } from "~/api/session.tsx";
import { pages } from "~/app/pages.ts";

export interface Ids {
  webhook: string;
  event: string;
  delivery: string;
  eventType: string;
  tenant: string;
  channel: string;
}

const things: Record<string, keyof Ids> = {
  "/webhooks/:id": "webhook",
  "/webhooks/:id/edit": "webhook",
  "/deliveries/:id": "delivery",
  "/events/:id": "event",
  "/event-types/show/:name": "eventType",
  "/tenants/:id": "tenant",
  "/notifications/:id": "channel",
  "/notifications/:id/edit": "channel",
};

/** The paths that somebody with these rights can open. Fails on a page that it does not know. */
export function pathsFor(rights: Rights, ids: Ids): string[] {
  return pages
    .filter((page) => page.shown(rights))
    .map(({ path }) => {
      if (!path.includes(":")) return path;
      const thing = things[path];
      if (!thing) throw new Error(`Say in pagePaths.ts what the ${path} needs.`);
      return path.replace(/:\w+/, encodeURIComponent(ids[thing]));
    });
}
