import { expect, test } from "vitest";

import { RawJson } from "~/lib/rawJson.ts";

import { standingErrors } from "./standingErrors.ts";

const messages = {
  url: "is private",
  "retry_config.base_delay_ms": "is too short",
  "retry_config.schedule_ms[1]": "is too long",
  "filter.data.amount": "is unknown",
};
const sent = {
  url: "https://a.example/",
  retry_config: { base_delay_ms: 1, schedule_ms: [1, 2] },
  filter: new RawJson('{"data":{"amount":1}}'),
};

test("messages of unchanged fields stay", () => {
  expect(standingErrors(messages, sent, sent)).toEqual(messages);
  expect(standingErrors({ name: "is taken" }, sent, sent)).toEqual({ name: "is taken" });
});

test("the message of a changed field goes", () => {
  const now = {
    ...sent,
    url: "https://b.example/",
    retry_config: { base_delay_ms: 1, schedule_ms: [1, 3] },
    filter: new RawJson("{}"),
  };
  expect(Object.keys(standingErrors(messages, sent, now))).toEqual(["retry_config.base_delay_ms"]);
  expect(Object.keys(standingErrors(messages, sent, {}))).toEqual([]);
});
