import { expect, test } from "vitest";

import { fullRequest, lacksSecrets, rawText, responseMessage } from "./httpMessage.ts";

const request = { method: "POST" as const, url: "https://a/x", headers: { A: "1" } };

test("an attempt takes the body that it shares with the delivery", () => {
  const delivery = { request: { ...request, body: "{}" } };
  expect(fullRequest({ request }, delivery)?.body).toBe("{}");
  expect(fullRequest({ request: { ...request, body: "other" } }, delivery)?.body).toBe("other");
  expect(fullRequest({ request: null }, delivery)).toBeNull();
});

test("raw text has the first line, the headers and the body", () => {
  const message = {
    start: "POST https://a/x",
    headers: [["A", "1"]] as [string, string][],
    body: "b",
  };
  expect(rawText(message)).toBe("POST https://a/x\nA: 1\n\nb");
});

test("without a status there is no response", () => {
  const none = { http_status: null, response_headers: {}, response_sample: null };
  expect(responseMessage(none)).toBeNull();
});

test("knows what a copy lacks", () => {
  expect(lacksSecrets({ ...request, headers: { "X-Signature": "[not kept]" } })).toBe(true);
  expect(lacksSecrets(request)).toBe(false);
});
