import { expect, test } from "vitest";

import { catalogueEntries, exampleText } from "./catalogue.ts";

const answer = `{"data":[
  {"name":"order.paid","example":{"id":12345678901234567890,"price":1.10}},
  {"name":"ping","example":null},
  {"name":"text","example":"a, \\"b\\"]"}
],"next_cursor":null}`;

test("examples keep the digits of their numbers", () => {
  const catalogue = catalogueEntries(answer);
  expect(catalogue.map((entry) => entry.name)).toEqual(["order.paid", "ping", "text"]);
  expect(exampleText(catalogue, "order.paid")).toBe(
    '{\n  "id": 12345678901234567890,\n  "price": 1.10\n}',
  );
  expect(exampleText(catalogue, "text")).toBe('"a, \\"b\\"]"');
  expect(exampleText(catalogue, "ping")).toBeNull();
  expect(exampleText(catalogue, "other")).toBeNull();
});
