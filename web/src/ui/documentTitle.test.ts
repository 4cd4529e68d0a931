import { expect, test } from "vitest";

import { titleOf } from "./documentTitle.ts";

test("a page adds its name to the section, and the list of a section does not repeat it", () => {
  expect(titleOf("Webhooks", "Webhooks · Postrider")).toBe("Webhooks · Postrider");
  expect(titleOf("Orders \u202e", "Webhooks · Postrider")).toBe("Orders  · Webhooks · Postrider");
  expect(titleOf("There is no such page", "Postrider")).toBe("There is no such page · Postrider");
});
