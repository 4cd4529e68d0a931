import { expect, test } from "vitest";

import type { Webhook } from "~/api/types.ts";
import { writeJson } from "~/lib/rawJson.ts";

import { messageAt, missingFields, previewable, readForm, verification } from "./formInput.ts";
import { emptyPolicy, emptyValues, valuesOf } from "./formValues.ts";
import { retryPolicy } from "./policies.ts";

const stored = {
  id: "whk_1",
  url: "https://example.com/in",
  events: ["order.*"],
  name: "Shop",
  description: null,
  tenant_id: "acme",
  owner_id: null,
  owner_email: "old@example.com",
  resource_id: null,
  active: true,
  headers: { Authorization: "[hidden]", "X-Team": "a" },
  metadata: { team: "a", level: 1 },
  filter: { data: { amount: [1] } },
  payload_format: "standard",
  payload: { form: "verbatim" },
  signature: {
    scheme: "standard",
    header_prefix: "X-Webhook-",
    standard_headers: true,
    prefixed_headers: true,
    header_set: "platform",
  },
  retry_config: {
    preset: null,
    max_attempts: 8,
    max_attempts_auto: false,
    base_delay_ms: 1_000,
    max_delay_ms: 90_000,
    backoff_multiplier: 2,
    schedule_ms: [30_000, 300_000],
    jitter: { minus: 0.1, plus: 0.25, extra_ms: 0 },
    timeout_ms: 30_000,
    timeout_growth_factor: 1,
    permanent_statuses: [400, 410],
    category_minimums: true,
    honor_retry_after: true,
    ssl_max_attempts: 3,
  },
  circuit_breaker_config: { preset: "standard", enabled: true },
  rate_limit: { requests_per_minute: 60, burst: 5 },
  max_in_flight: 5,
  ordering_guarantee: "none",
} as unknown as Webhook;

const noTexts = { filterText: null, metadataText: null };

function inputOf(change: (values: ReturnType<typeof valuesOf>) => void) {
  const start = valuesOf(stored, noTexts);
  const values = structuredClone(start);
  change(values);
  const reading = readForm(values, start);
  expect(reading.errors).toEqual({});
  return JSON.parse(writeJson(reading.input)) as unknown;
}

test("a new webhook has only what was entered", () => {
  const values = { ...emptyValues(), url: " https://example.com/ ", events: ["a.b"] };
  expect(readForm(values, emptyValues())).toEqual({
    input: { url: "https://example.com/", events: ["a.b"] },
    errors: {},
  });
});

test("a form that was not touched changes nothing", () => {
  expect(inputOf(() => undefined)).toEqual({});
});

test("a change has only what was changed, and null where a text was removed", () => {
  expect(
    inputOf((values) => {
      values.name = "";
      values.description = "New";
      values.owner_email = " new@example.com ";
      values.headers = [
        { name: "authorization", value: "[hidden]" },
        { name: "X-New", value: "1" },
      ];
      values.metadata = '{"level": 2, "more": true}';
      values.filter = "";
      values.rate_unit = "";
      values.max_in_flight = "";
      values.payload_form = "sorted";
      values.signature["scheme"] = "t-v1";
    }),
  ).toEqual({
    name: null,
    description: "New",
    owner_email: "new@example.com",
    headers: { "X-New": "1", "X-Team": null },
    metadata: { level: 2, more: true, team: null },
    filter: null,
    rate_limit: null,
    max_in_flight: null,
    payload: { form: "sorted" },
    signature: { scheme: "t-v1" },
  });
});

test("single values of a policy are merged, a preset replaces it", () => {
  expect(
    inputOf((values) => {
      values.retry_config["base_delay_ms"] = "2 s";
      values.retry_config["jitter.plus"] = "50 %";
      values.retry_config["permanent_statuses"] = "";
      values.circuit_breaker_config["enabled"] = "false";
    }),
  ).toEqual({
    retry_config: { base_delay_ms: 2_000, jitter: { plus: 0.5 }, permanent_statuses: null },
    circuit_breaker_config: { enabled: false },
  });
  expect(
    inputOf((values) => {
      values.retry_config = emptyPolicy(retryPolicy, "quick");
      values.retry_config["max_attempts"] = "auto";
    }),
  ).toEqual({ retry_config: { preset: "quick", max_attempts: "auto" } });
});

test("the texts of a stored policy are read back as they are", () => {
  const values = valuesOf(stored, noTexts);
  expect(values.retry_config).toMatchObject({
    schedule_ms: "30 s, 5 min",
    "jitter.plus": "25 %",
    max_delay_ms: "1 min 30 s",
    permanent_statuses: "400, 410",
    honor_retry_after: "true",
  });
  expect(values.circuit_breaker_config).toMatchObject({ preset: "standard", enabled: "" });
});

test("typed JSON is sent as it was typed", () => {
  const values = { ...emptyValues(), filter: '{"data": {"n": [1.50]}}', metadata: '{"id": 1e2}' };
  const { input } = readForm(values, emptyValues());
  expect(writeJson(input)).toBe('{"filter":{"data": {"n": [1.50]}},"metadata":{"id": 1e2}}');
});

test("numbers of a stored filter and of metadata keep their digits", () => {
  const start = valuesOf(stored, {
    filterText: '{"data":{"id":[12345678901234567890]}}',
    metadataText: '{"id":12345678901234567890,"level":1}',
  });
  expect(start.filter).toContain("12345678901234567890");
  expect(readForm(start, start).input).toEqual({});
  const next = (text: string) => text.replace(/0(?=\D)/, "1");
  const values = { ...start, filter: next(start.filter), metadata: next(start.metadata) };
  expect(writeJson(readForm(values, start).input).replaceAll(/\s/g, "")).toBe(
    '{"filter":{"data":{"id":[12345678901234567891]}},"metadata":{"id":12345678901234567891}}',
  );
});

test("what cannot be read is named", () => {
  const values = emptyValues();
  values.filter = "[1]";
  values.metadata = "{";
  values.max_in_flight = "many";
  values.rate_unit = "requests_per_second";
  values.retry_config["base_delay_ms"] = "soon";
  values.retry_config["schedule_ms"] = "1 s, later";
  values.headers = [
    { name: "X-A", value: "1" },
    { name: "x-a", value: "2" },
  ];
  expect(Object.keys(readForm(values, emptyValues()).errors).sort()).toEqual([
    "filter",
    "headers",
    "max_in_flight",
    "metadata",
    "rate_limit.requests_per_second",
    "retry_config.base_delay_ms",
    "retry_config.schedule_ms",
  ]);
  expect(Object.keys(missingFields(values))).toEqual(["url", "events"]);
});

test("a draft without URL and events can be previewed", () => {
  const values = { ...emptyValues(), name: "Shop" };
  expect(previewable(readForm(values, emptyValues()), values)).toEqual({
    name: "Shop",
    url: "https://example.com/",
    events: ["*"],
  });
});

test("verification is a part of the request", () => {
  expect(verification(emptyValues())).toEqual({});
  expect(verification({ ...emptyValues(), verify: "verify" })).toEqual({ verify_url: true });
  expect(verification({ ...emptyValues(), verify: "require" })).toEqual({
    verify_url: true,
    require_verification: true,
  });
});

test("messages about a part are shown at the field", () => {
  const messages = { "filter.data.a[0]": "must be a number.", url: "is not acceptable." };
  expect(messageAt(messages, "url")).toBe("Is not acceptable.");
  expect(messageAt(messages, "filter")).toBe("filter.data.a[0] must be a number.");
  expect(messageAt(messages, "name")).toBeUndefined();
});
