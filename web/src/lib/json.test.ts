import { describe, expect, test } from "vitest";

import { elementTexts, indentJson, isJson, jsonError, jsonErrorWords, memberText } from "./json.ts";

const valid = [
  "0",
  "-1.50e+10",
  "12345678901234567890",
  '"a\\u00e9\\n"',
  "true",
  "null",
  "[]",
  "{}",
  ' { "a" : [ 1 , { "b" : "}" } ] , "a" : {} } ',
  '["[", "{", ",", ":"]',
];

const invalid: [string, number, number][] = [
  ["", 1, 1],
  ["{", 1, 2],
  ['{"a" 1}', 1, 6],
  ['{"a": 1,}', 1, 9],
  ["[1,]", 1, 4],
  ["[1 2]", 1, 4],
  ["01", 1, 2],
  ["nul", 1, 1],
  ["'a'", 1, 1],
  ['"a\nb"', 1, 1],
  ['"\\x"', 1, 1],
  ['{\n  "a": tru\n}', 2, 8],
  ["1 2", 1, 3],
];

test.each(valid)("%s is JSON", (text) => {
  expect(jsonError(text)).toBeNull();
  expect(isJson(text)).toBe(true);
  expect(JSON.parse(text)).toBeDefined();
});

test.each(invalid)("%j fails in line %i, column %i", (text, line, column) => {
  expect(() => JSON.parse(text) as unknown).toThrow();
  expect(jsonError(text)).toMatchObject({ line, column });
  expect(isJson(text)).toBe(false);
  expect(indentJson(text)).toBeNull();
});

test("an error in words names its place", () => {
  expect(jsonErrorWords('{\n  "a": tru\n}')).toBe("Line 2, column 8: This is not a value.");
  expect(jsonErrorWords("{}")).toBe("");
});

test("deep nesting is an error, not a crash", () => {
  expect(jsonError("[".repeat(100_000))?.message).toContain("deeply");
});

describe("indentJson", () => {
  test.each([{}, [], [1, [2, []], {}], { a: { b: [1, "x:,"] }, c: null }, "x", 5])(
    "gives what JSON.stringify gives for %j",
    (value) => expect(indentJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2)),
  );

  test("keeps numbers and repeated keys as they were written", () => {
    expect(indentJson('{"a":12345678901234567890,"a":1.0}')).toBe(
      '{\n  "a": 12345678901234567890,\n  "a": 1.0\n}',
    );
  });
});

describe("memberText", () => {
  const text = '{"id":"data","n":{"data":1},"data":  {"a":1.0, "b":[{"data":2}]} ,"z":"data"}';
  test("finds the member of the outer object", () => {
    expect(memberText(text, "data")).toBe('{"a":1.0, "b":[{"data":2}]}');
    expect(memberText(text, "n")).toBe('{"data":1}');
    expect(memberText(text, "z")).toBe('"data"');
  });
  test("is null if there is none", () => {
    expect(memberText(text, "b")).toBeNull();
    expect(memberText("[1]", "b")).toBeNull();
  });
});

test("elementTexts gives the elements of the outer array as they were written", () => {
  expect(elementTexts('[ {"a": [1.10, 2]} ,12345678901234567890,[],"],"]')).toEqual([
    '{"a": [1.10, 2]}',
    "12345678901234567890",
    "[]",
    '"],"',
  ]);
  for (const text of ["[]", "[ ]", '{"a":[1],"b":2}', "1", "[1"]) {
    expect(elementTexts(text), text).toEqual([]);
  }
});
