import { expect, test } from "vitest";

import { testBody } from "./testSend.ts";

test("data is sent as it was written", () => {
  expect(testBody(" order.paid ", '{"n": 12345678901234567890}')).toBe(
    '{"event_type":"order.paid","data":{"n": 12345678901234567890}}',
  );
  expect(testBody("", "")).toBe("{}");
  expect(testBody('a"b', "1")).toBe('{"event_type":"a\\"b","data":1}');
});
