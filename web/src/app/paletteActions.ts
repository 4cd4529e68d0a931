// What the palette offers to create, by the visitor's rights. Pure.
import type { Rights } from "~/api/session.tsx";

export interface PaletteAction {
  label: string;
  path: string;
  shown: (rights: Rights) => boolean;
}

const actions: PaletteAction[] = [
  { label: "Create a webhook", path: "/webhooks/new", shown: ({ admin }) => admin },
  { label: "Publish an event", path: "/events/new", shown: ({ publish }) => publish },
  {
    label: "Create an event type",
    path: "/event-types/new",
    shown: ({ operator, admin }) => operator && admin,
  },
  {
    label: "Create a notification channel",
    path: "/notifications/new",
    shown: ({ admin }) => admin,
  },
  { label: "Create an API key", path: "/api-keys?new=1", shown: ({ admin }) => admin },
  {
    label: "Register a tenant",
    path: "/tenants?new=1",
    shown: ({ operator, admin }) => operator && admin,
  },
];

export const paletteActions = (rights: Rights): PaletteAction[] =>
  actions.filter((action) => action.shown(rights));
