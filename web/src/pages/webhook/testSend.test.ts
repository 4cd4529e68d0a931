import { expect, test } from "vitest";

import { exampleText, jsonProblem, testBody } from "./testSend.ts";

test("data is sent as it was written", () => {
  expect(testBody(" order.paid ", '{"n": 12345678901234567890}')).toBe(
    '{"event_type":"order.paid","data":{"n": 12345678901234567890}}',
  );
  expect(testBody("", "")).toBe("{}");
  expect(testBody('a"b', "1")).toBe('{"event_type":"a\\"b","data":1}');
});

test("what is not JSON is explained", () => {
  expect(jsonProblem('{"a": 1}')).toBeNull();
  expect(jsonProblem("  ")).toBeNull();
  expect(jsonProblem("{a: 1}")).toMatch(/^This is not valid JSON: /);
});

test("an example of the catalogue becomes text", () => {
  expect(exampleText({ a: 1 })).toBe('{\n  "a": 1\n}');
  expect(exampleText(null)).toBe("");
});
