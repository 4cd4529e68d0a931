import { expect, test } from "vitest";

import { publishBody } from "./events.ts";

const empty = {
  type: "order.paid",
  dataText: "{}",
  metadataText: "",
  tenant_id: "",
  resource_id: "",
  idempotency_key: "",
  priority: "normal" as const,
  source: "",
  ordering_key: "",
};

test("empty fields are left out", () => {
  expect(JSON.parse(publishBody(empty))).toEqual({
    type: "order.paid",
    priority: "normal",
    data: {},
  });
});

test("data is sent as it was written", () => {
  const text = publishBody({ ...empty, dataText: ' {"n": 12345678901234567890, "p": 1.0}\n' });
  expect(text).toContain('"data":{"n": 12345678901234567890, "p": 1.0}');
});

test("text is escaped", () => {
  const text = publishBody({ ...empty, resource_id: ' a"b ', metadataText: '{"k":1}' });
  expect(JSON.parse(text)).toMatchObject({ resource_id: 'a"b', metadata: { k: 1 } });
});
