// What the form holds: texts as they were typed. An empty text stands for the default. Pure.
import type { Webhook } from "~/api/types.ts";
import type { WebhookWithText } from "~/api/webhookText.ts";
import { indentJson } from "~/lib/json.ts";

import { writeField } from "./fieldKinds.ts";
import { circuitPolicy, memberOf, type Policy, retryPolicy, signaturePolicy } from "./policies.ts";

export interface HeaderRow {
  name: string;
  value: string;
}

/** The texts of a policy by name of field, and its `preset`. */
export type PolicyValues = Record<string, string>;

export type RateUnit = "" | "requests_per_second" | "requests_per_minute";
export type Verify = "no" | "verify" | "require";

export interface FormValues {
  url: string;
  name: string;
  description: string;
  tenant_id: string;
  owner_id: string;
  owner_email: string;
  resource_id: string;
  secret: string;
  active: boolean;
  events: string[];
  filter: string;
  metadata: string;
  headers: HeaderRow[];
  payload_format: string;
  payload_form: string;
  ordering_guarantee: string;
  max_in_flight: string;
  rate_unit: RateUnit;
  rate: string;
  burst: string;
  retry_config: PolicyValues;
  circuit_breaker_config: PolicyValues;
  signature: PolicyValues;
  verify: Verify;
}

/** Without texts: everything is as the preset or the server has it. */
export function emptyPolicy(policy: Policy, preset = ""): PolicyValues {
  const values: PolicyValues = { preset };
  for (const field of policy.fields) values[field.name] = "";
  return values;
}

/** A policy that equals a preset is shown as the preset alone. */
function policyValues(policy: Policy, config: unknown): PolicyValues {
  const preset = memberOf(config, "preset");
  if (typeof preset === "string") return emptyPolicy(policy, preset);
  const values = emptyPolicy(policy);
  for (const { name, kind } of policy.fields)
    values[name] = writeField(kind, memberOf(config, name));
  if (memberOf(config, "max_attempts_auto") === true) values["max_attempts"] = "auto";
  return values;
}

export function emptyValues(): FormValues {
  return {
    url: "",
    name: "",
    description: "",
    tenant_id: "",
    owner_id: "",
    owner_email: "",
    resource_id: "",
    secret: "",
    active: true,
    events: [],
    filter: "",
    metadata: "",
    headers: [],
    payload_format: "",
    payload_form: "",
    ordering_guarantee: "",
    max_in_flight: "",
    rate_unit: "",
    rate: "",
    burst: "",
    retry_config: emptyPolicy(retryPolicy),
    circuit_breaker_config: emptyPolicy(circuitPolicy),
    signature: emptyPolicy(signaturePolicy),
    verify: "no",
  };
}

/** An object with one member per line, or an empty text. Numbers keep their digits. */
const indented = (object: object | null, text: string | null) =>
  object && Object.keys(object).length > 0
    ? (indentJson(text ?? JSON.stringify(object)) ?? "")
    : "";

/** The form of an existing webhook. */
export function valuesOf(
  hook: Webhook,
  texts: Pick<WebhookWithText, "filterText" | "metadataText">,
): FormValues {
  const rate = hook.rate_limit;
  return {
    ...emptyValues(),
    url: hook.url,
    name: hook.name ?? "",
    description: hook.description ?? "",
    tenant_id: hook.tenant_id ?? "",
    owner_id: hook.owner_id ?? "",
    owner_email: hook.owner_email ?? "",
    resource_id: hook.resource_id ?? "",
    active: hook.active,
    events: [...hook.events],
    filter: indented(hook.filter, texts.filterText),
    metadata: indented(hook.metadata, texts.metadataText),
    headers: Object.entries(hook.headers).map(([name, value]) => ({ name, value })),
    payload_format: hook.payload_format,
    payload_form: hook.payload.form,
    ordering_guarantee: hook.ordering_guarantee,
    max_in_flight: String(hook.max_in_flight),
    rate_unit: !rate
      ? ""
      : rate.requests_per_second
        ? "requests_per_second"
        : "requests_per_minute",
    rate: String(rate?.requests_per_second ?? rate?.requests_per_minute ?? ""),
    burst: String(rate?.burst ?? ""),
    retry_config: policyValues(retryPolicy, hook.retry_config),
    circuit_breaker_config: policyValues(circuitPolicy, hook.circuit_breaker_config),
    signature: policyValues(signaturePolicy, hook.signature),
  };
}
