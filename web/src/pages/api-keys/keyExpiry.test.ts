import { expect, test } from "vitest";

import { expiresAt } from "./keyExpiry.ts";

test("a key ends after the chosen days, or never", () => {
  expect(expiresAt("", 0)).toBeNull();
  expect(expiresAt("7", 0)).toBe("1970-01-08T00:00:00.000Z");
});
