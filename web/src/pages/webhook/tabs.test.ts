import { expect, test } from "vitest";

import { currentTab, shownTabs } from "./tabs.ts";

test("a viewer has no tabs whose only use is to change something", () => {
  expect(shownTabs({ admin: false }).map((tab) => tab.value)).toEqual([
    "overview",
    "deliveries",
    "circuit",
    "verify",
    "configuration",
  ]);
  expect(currentTab("secret", { admin: false })).toBe("overview");
  expect(currentTab("secret", { admin: true })).toBe("secret");
  expect(currentTab(undefined, { admin: true })).toBe("overview");
});
