import { expect, test } from "vitest";

import { itemMessage } from "./fieldMessage.ts";

test("a wrong item is named by its value", () => {
  const messages = { "target.to[1]": "is not an address.", name: "is required." };
  expect(itemMessage(messages, "target.to", ["a@b.c", "x"])).toBe("x is not an address.");
  expect(itemMessage(messages, "target.to")).toBe("target.to[1] is not an address.");
  expect(itemMessage(messages, "name")).toBe("Is required.");
  expect(itemMessage(messages, "kinds")).toBeUndefined();
});
