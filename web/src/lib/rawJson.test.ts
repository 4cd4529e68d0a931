import { expect, test } from "vitest";

import { RawJson, writeJson } from "./rawJson.ts";

test("writes typed JSON byte for byte", () => {
  const data = new RawJson('{"n": 1.50, "id": 12345678901234567890}');
  expect(writeJson({ event: { type: "a", data }, none: undefined })).toBe(
    '{"event":{"type":"a","data":{"n": 1.50, "id": 12345678901234567890}}}',
  );
});

test("writes everything else like JSON.stringify", () => {
  const value = { a: [1, null, "x\n", true], b: { c: {} }, 'q"': "é" };
  expect(writeJson(value)).toBe(JSON.stringify(value));
});
