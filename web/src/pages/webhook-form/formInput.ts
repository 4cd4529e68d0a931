// Turns the form into what the API takes: only what differs from the start, so that a change keeps
// what it does not touch. Pure.
import { indentJson, isJson, jsonErrorWords, memberText } from "~/lib/json.ts";
import { RawJson } from "~/lib/rawJson.ts";

import { readField } from "./fieldKinds.ts";
import type { FormValues, HeaderRow, PolicyValues } from "./formValues.ts";
import { circuitPolicy, type Policy, retryPolicy, setMember, signaturePolicy } from "./policies.ts";

export type Input = Record<string, unknown>;
export type Messages = Record<string, string>;

export interface FormReading {
  input: Input;
  errors: Messages; // By the API's names of the fields.
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

const texts = [
  "name",
  "description",
  "tenant_id",
  "owner_id",
  "owner_email",
  "resource_id",
] as const;
const choices = ["payload_format", "ordering_guarantee"] as const;

/** A chosen preset replaces the whole policy; the texts beside it change it. */
function readPolicy(policy: Policy, now: PolicyValues, start: PolicyValues, reading: FormReading) {
  const changed: Input = {};
  const isReplaced = now["preset"] !== "" && now["preset"] !== start["preset"];
  if (isReplaced) changed["preset"] = now["preset"];
  for (const { name, kind } of policy.fields) {
    const text = (now[name] ?? "").trim();
    if (isReplaced ? text === "" : text === (start[name] ?? "")) continue;
    const read = text === "" ? { value: null } : readField(kind, text);
    if ("error" in read) reading.errors[`${policy.name}.${name}`] = read.error;
    else setMember(changed, name, read.value);
  }
  if (Object.keys(changed).length > 0) reading.input[policy.name] = changed;
}

const byName = (rows: HeaderRow[]) =>
  new Map(rows.map(({ name, value }) => [name.trim().toLowerCase(), value]));

function readHeaders(now: HeaderRow[], start: HeaderRow[], reading: FormReading) {
  const headers: Record<string, string | null> = {};
  const [names, before] = [byName(now), byName(start)];
  const filled = now.filter(({ name, value }) => name.trim() !== "" || value !== "");
  if (filled.length > names.size - (names.has("") ? 1 : 0)) {
    reading.errors["headers"] = "Each header needs a name of its own.";
  }
  for (const { name, value } of filled) {
    if (before.get(name.trim().toLowerCase()) !== value) headers[name.trim()] = value;
  }
  for (const { name } of start) if (!names.has(name.toLowerCase())) headers[name] = null;
  if (Object.keys(headers).length > 0) reading.input["headers"] = headers;
}

/** The members of a JSON object, or null if the text is none. An empty text is an empty object. */
function members(text: string): Record<string, unknown> | null {
  if (text.trim() === "") return {};
  if (!isJson(text)) return null;
  const value: unknown = JSON.parse(text);
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, unknown>) : null;
}

const notAnObject = (text: string) => `Must be a JSON object. ${jsonErrorWords(text)}`.trim();

function readFilter(now: FormValues, start: FormValues, { input, errors }: FormReading) {
  if (now.filter.trim() === start.filter.trim()) return;
  if (now.filter.trim() === "") input["filter"] = null;
  else if (members(now.filter)) input["filter"] = new RawJson(now.filter.trim());
  else errors["filter"] = notAnObject(now.filter);
}

function readMetadata(now: FormValues, start: FormValues, { input, errors }: FormReading) {
  const [after, before] = [members(now.metadata), members(start.metadata) ?? {}];
  if (after === null) {
    errors["metadata"] = notAnObject(now.metadata);
    return;
  }
  if (Object.keys(before).length === 0) {
    if (Object.keys(after).length > 0) input["metadata"] = new RawJson(now.metadata.trim());
    return;
  }
  const changed: Input = {};
  for (const [name, value] of Object.entries(after)) {
    const [text, old] = [memberText(now.metadata, name), memberText(start.metadata, name)];
    // A name that is written with escapes is not found.
    if (text === null) changed[name] = value;
    else if (indentJson(text) !== indentJson(old ?? "")) changed[name] = new RawJson(text);
  }
  for (const name of Object.keys(before)) if (!(name in after)) changed[name] = null;
  if (Object.keys(changed).length > 0) input["metadata"] = changed;
}

function readLimits(now: FormValues, start: FormValues, { input, errors }: FormReading) {
  const integer = (field: string, text: string) => {
    const read = readField("integer", text);
    if ("error" in read) errors[field] = read.error;
    return "value" in read ? read.value : undefined;
  };
  if (now.max_in_flight !== start.max_in_flight) {
    input["max_in_flight"] =
      now.max_in_flight.trim() === "" ? null : integer("max_in_flight", now.max_in_flight);
  }
  const rate = (values: FormValues) => [values.rate_unit, values.rate.trim(), values.burst.trim()];
  if (same(rate(now), rate(start))) return;
  if (now.rate_unit === "") {
    if (start.rate_unit !== "") input["rate_limit"] = null;
    return;
  }
  const limit: Input = { [now.rate_unit]: integer(`rate_limit.${now.rate_unit}`, now.rate) };
  if (now.burst.trim() !== "") limit["burst"] = integer("rate_limit.burst", now.burst);
  input["rate_limit"] = limit;
}

/** `start`: the form as it was opened. */
export function readForm(now: FormValues, start: FormValues): FormReading {
  const reading: FormReading = { input: {}, errors: {} };
  const { input } = reading;
  if (now.url.trim() !== start.url) input["url"] = now.url.trim();
  if (!same(now.events, start.events)) input["events"] = now.events;
  if (now.active !== start.active) input["active"] = now.active;
  if (now.secret !== "") input["secret"] = now.secret;
  for (const name of texts) {
    if (now[name].trim() !== start[name]) input[name] = now[name].trim() || null;
  }
  for (const name of choices) {
    if (now[name] !== start[name]) input[name] = now[name] || null;
  }
  if (now.payload_form !== start.payload_form)
    input["payload"] = { form: now.payload_form || null };
  readPolicy(retryPolicy, now.retry_config, start.retry_config, reading);
  readPolicy(circuitPolicy, now.circuit_breaker_config, start.circuit_breaker_config, reading);
  readPolicy(signaturePolicy, now.signature, start.signature, reading);
  readLimits(now, start, reading);
  readHeaders(now.headers, start.headers, reading);
  readFilter(now, start, reading);
  readMetadata(now, start, reading);
  return reading;
}

/** What is missing before the form can be sent. */
export function missingFields(values: FormValues): Messages {
  const missing: Messages = {};
  if (values.url.trim() === "") missing["url"] = "Enter the URL of the receiver.";
  if (values.events.length === 0) missing["events"] = "Choose at least one event type.";
  return missing;
}

export function verification(values: FormValues): Input {
  if (values.verify === "no") return {};
  return values.verify === "require"
    ? { verify_url: true, require_verification: true }
    : { verify_url: true };
}

/** A draft can be previewed before it has a URL and event types. */
export function previewable(reading: FormReading, values: FormValues): Input {
  return {
    ...reading.input,
    ...(values.url.trim() === "" ? { url: "https://example.com/" } : {}),
    ...(values.events.length === 0 ? { events: ["*"] } : {}),
  };
}

/** The message of a field, or of a part of it such as `filter.data.amount[0]`. */
export function messageAt(messages: Messages, field: string): string | undefined {
  const own = messages[field];
  if (own !== undefined) return own.charAt(0).toUpperCase() + own.slice(1);
  for (const [name, message] of Object.entries(messages)) {
    if (name.startsWith(`${field}.`) || name.startsWith(`${field}[`)) return `${name} ${message}`;
  }
  return undefined;
}
