import type { Rights } from "~/api/session.tsx";

export interface Tab {
  value: string;
  label: string;
  admin?: boolean; // Only for those who may change things.
}

export const tabs = [
  { value: "overview", label: "Overview" },
  { value: "deliveries", label: "Deliveries" },
  { value: "circuit", label: "Circuit" },
  { value: "test", label: "Test send", admin: true },
  { value: "secret", label: "Secret", admin: true },
  { value: "verify", label: "Verify" },
  { value: "replay", label: "Replay", admin: true },
  { value: "configuration", label: "Configuration" },
] as const satisfies Tab[];

export const shownTabs = (rights: Pick<Rights, "admin">): Tab[] =>
  (tabs as readonly Tab[]).filter((tab) => rights.admin || !tab.admin);

/** The tab of the address bar, or the first one if the visitor may not see it. */
export function currentTab(text: string | undefined, rights: Pick<Rights, "admin">): string {
  return shownTabs(rights).find((tab) => tab.value === text)?.value ?? "overview";
}
