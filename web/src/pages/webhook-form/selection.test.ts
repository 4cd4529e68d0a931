import { expect, test } from "vitest";

import { coveredBy, describePattern, exampleType, groupTypes, toggled } from "./selection.ts";

const types = ["order.created", "order.paid", "ping", "user.created"];

test("groups by the first word", () => {
  expect(groupTypes(types).map((group) => [group.pattern, group.types.length])).toEqual([
    ["order.*", 2],
    ["ping.*", 1],
    ["user.*", 1],
  ]);
});

test("a pattern takes the place of what it covers", () => {
  expect(toggled(["ping"], "order.paid")).toEqual(["ping", "order.paid"]);
  expect(toggled(["ping", "order.paid"], "order.*")).toEqual(["ping", "order.*"]);
  expect(toggled(["ping", "order.*"], "*")).toEqual(["*"]);
  expect(toggled(["ping", "order.*"], "order.*")).toEqual(["ping"]);
  expect(coveredBy("order.paid", ["order.paid", "order.*"])).toBe("order.*");
  expect(coveredBy("order.paid", ["order.paid"])).toBeUndefined();
});

test("says what a pattern matches", () => {
  expect(describePattern("", types)).toBe("");
  expect(describePattern("order.*", types)).toBe(
    "Matches 2 of 4: order.created, order.paid. Future types that match are included.",
  );
  expect(describePattern("ping", types)).toBe("Matches 1 of 4: ping.");
  expect(describePattern("a..b", types)).toContain("Use a name");
  expect(describePattern("cart", types)).toBe("No type of the catalogue matches.");
  expect(describePattern("cart.*", [])).toBe(
    "The catalogue is empty. Future types that match are included.",
  );
});

test("an example is of a type that is selected", () => {
  expect(exampleType(["user.*"], types)).toBe("user.created");
  expect(exampleType([], types)).toBe("order.created");
  expect(exampleType([], [])).toBe("example.event");
  expect(exampleType(["cart.*"], types)).toBe("cart.example");
  expect(exampleType(["*"], [])).toBe("example.event");
  expect(exampleType(["cart.added"], [])).toBe("cart.added");
});
