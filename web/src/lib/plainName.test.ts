import { expect, test } from "vitest";

import { plainName } from "./plainName.ts";

test("characters that reorder text are removed, letters of every script stay", () => {
  expect(plainName("Bad \u202etxet\u2069 \u2066x")).toBe("Bad txet x");
  expect(plainName("שלום Grüße 你好")).toBe("שלום Grüße 你好");
});
