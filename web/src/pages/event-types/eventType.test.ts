import { expect, test } from "vitest";

import { changeBody, draftOf, isComplete, nameProblem, schemaProblem } from "./eventType.ts";

const draft = { ...draftOf(null), name: "order.paid" };

test("an empty draft with a name is complete", () => {
  expect(isComplete(draft)).toBe(true);
  expect(JSON.parse(changeBody(draft, true))).toEqual({
    name: "order.paid",
    description: null,
    schema: null,
    example: null,
    validate: true,
  });
});

test.each(["", "a b", ".a", "a..b", "a.", "a/b"])("%j is not the name of an event type", (name) =>
  expect(isComplete({ ...draft, name })).toBe(false),
);

test("a bad name has a message, a name that is being typed only if it cannot become one", () => {
  expect(nameProblem("order.paid", false)).toBeNull();
  expect(nameProblem("order.", true)).toBeNull();
  expect(nameProblem("", true)).toBeNull();
  expect(nameProblem("", false)).toBe("Enter a name.");
  for (const [name, isTyping] of [
    ["order.", false],
    ["order paid", true],
    ["order..", true],
    ["größe", true],
  ] as const) {
    expect(nameProblem(name, isTyping), name).toContain("Use letters");
  }
});

test("broken JSON and schemas that are no objects are not sent", () => {
  expect(isComplete({ ...draft, schemaText: "{" })).toBe(false);
  expect(isComplete({ ...draft, exampleText: "{a}" })).toBe(false);
  expect(isComplete({ ...draft, schemaText: "true" })).toBe(false);
  expect(schemaProblem("[1]")).toBe("A schema is a JSON object.");
  expect(schemaProblem("")).toBeNull();
});

test("a schema is sent as it was written, a name only once", () => {
  const text = changeBody({ ...draft, schemaText: '{"multipleOf": 1.0}' }, false);
  expect(text).toContain('"schema":{"multipleOf": 1.0}');
  expect(text).not.toContain("order.paid");
});
