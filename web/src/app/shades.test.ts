import { expect, test } from "vitest";

import { contrastOf, shadesOf } from "./shades.ts";

test.each(["#000000", "#ffffff", "#ffd400", "#2f5fd0", "#00ff00", "#7f7f7f", "#ff00ff"])(
  "text in shades of %s is readable",
  (color) => {
    const shades = shadesOf(color) ?? [];
    expect(shades).toHaveLength(10);
    for (const shade of shades.slice(7)) {
      expect(contrastOf(shade, "#ffffff")).toBeGreaterThan(5.5);
    }
    for (const shade of shades.slice(0, 4)) {
      expect(contrastOf(shade, "#242424")).toBeGreaterThan(5.5);
    }
  },
);

test("a colour that is dark enough is used as it is", () => {
  expect(shadesOf("#1f4193")?.[7]).toBe("#1f4193");
});

test.each(["", "red", "#fff", "#12345g", "url(x)", "#1234567"])("%j is not a colour", (color) =>
  expect(shadesOf(color)).toBeNull(),
);

test("contrast is that of WCAG", () => {
  expect(contrastOf("#ffffff", "#000000")).toBeCloseTo(21);
});
