import { expect, test } from "vitest";

import { pages } from "./pages.ts";
import { paletteActions } from "./paletteActions.ts";

const everything = { operator: true, read: true, admin: true, publish: true };
const variants = [
  everything,
  { operator: false, read: true, admin: true, publish: true },
  { operator: true, read: true, admin: false, publish: false },
  { operator: true, read: false, admin: false, publish: true },
];

test("every action leads to a page that the visitor may open", () => {
  for (const rights of variants) {
    for (const { path } of paletteActions(rights)) {
      const page = pages.find((each) => each.path === path.replace(/\?.*/, ""));
      expect(page?.shown(rights), path).toBe(true);
    }
  }
});

test("actions follow the rights", () => {
  expect(paletteActions(everything)).toHaveLength(6);
  expect(variants.slice(1).map((rights) => paletteActions(rights).length)).toEqual([4, 0, 1]);
});
