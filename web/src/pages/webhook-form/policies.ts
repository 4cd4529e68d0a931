// The fields of retry_config, circuit_breaker_config and signature, in the order in which the form
// shows them. A name with a dot is a member of an object: `jitter.plus`.
import type { FieldKind } from "./fieldKinds.ts";

export interface PolicyField {
  name: string;
  label: string;
  kind: FieldKind;
  hint?: string;
  choices?: { value: string; label: string }[];
}

export interface Policy {
  name: "retry_config" | "circuit_breaker_config" | "signature";
  presets?: { value: string; label: string }[];
  fields: PolicyField[];
}

export const retryPolicy: Policy = {
  name: "retry_config",
  presets: [
    { value: "patient", label: "Patient: 30 s doubling to 24 h, 12 attempts" },
    { value: "balanced", label: "Balanced: 1 s doubling to 5 min, 5 attempts" },
    { value: "quick", label: "Quick: 2 s doubling to 32 s, 5 attempts" },
    { value: "steep", label: "Steep: 1 s times 5 to 10 min, 6 attempts" },
    { value: "hourly", label: "Hourly: 30 s doubling to 1 h, 5 attempts" },
    { value: "stepped", label: "Stepped: 30 s, 5 min, 20 min, 1 h" },
    { value: "standard", label: "Standard: 5 s to 24 h in nine steps, 10 attempts" },
  ],
  fields: [
    { name: "max_attempts", label: "Attempts", kind: "attempts", hint: "1 to 100, or auto" },
    {
      name: "timeout_ms",
      label: "Timeout of an attempt",
      kind: "duration",
      hint: "To the last byte",
    },
    { name: "base_delay_ms", label: "First delay", kind: "duration" },
    { name: "max_delay_ms", label: "Longest delay", kind: "duration" },
    { name: "backoff_multiplier", label: "Multiplier", kind: "number", hint: "Of each next delay" },
    { name: "timeout_growth_factor", label: "Timeout growth", kind: "number", hint: "1 to 3" },
    {
      name: "schedule_ms",
      label: "Fixed delays",
      kind: "durations",
      hint: "Replace the computed ones: 30 s, 5 min, 1 h",
    },
    {
      name: "permanent_statuses",
      label: "Permanent statuses",
      kind: "statuses",
      hint: "Make a dead letter without a retry",
    },
    { name: "jitter.minus", label: "Jitter, shorter by", kind: "share" },
    { name: "jitter.plus", label: "Jitter, longer by", kind: "share" },
    { name: "jitter.extra_ms", label: "Jitter, extra", kind: "duration" },
    { name: "ssl_max_attempts", label: "Attempts after TLS errors", kind: "integer" },
    {
      name: "category_minimums",
      label: "Minimum delays",
      kind: "flag",
      hint: "60 s after 429, 5 s after DNS failures, 2 s after timeouts",
    },
    { name: "honor_retry_after", label: "Follow Retry-After", kind: "flag" },
  ],
};

export const circuitPolicy: Policy = {
  name: "circuit_breaker_config",
  presets: [
    { value: "standard", label: "Standard: opens at 50 % of 10 calls in 60 s" },
    { value: "patient", label: "Patient: opens at 50 % of the last 10 calls, for 1 h" },
    { value: "sensitive", label: "Sensitive: opens at 5 failures in 60 s, for 5 min" },
  ],
  fields: [
    { name: "enabled", label: "Circuit breaker", kind: "flag" },
    {
      name: "window",
      label: "Window",
      kind: "choice",
      choices: [
        { value: "time", label: "The last seconds" },
        { value: "count", label: "The last calls" },
      ],
    },
    { name: "window_size_ms", label: "Window in time", kind: "duration" },
    { name: "window_calls", label: "Window in calls", kind: "integer" },
    { name: "minimum_throughput", label: "Minimum calls in the window", kind: "integer" },
    { name: "error_threshold_percentage", label: "Opens at failures (%)", kind: "number" },
    {
      name: "failure_count_threshold",
      label: "Opens at failures (count)",
      kind: "integer",
      hint: "0: only the percentage counts",
    },
    {
      name: "consecutive_failure_threshold",
      label: "Opens at timeouts in a row",
      kind: "integer",
      hint: "0: never",
    },
    { name: "sleep_window_ms", label: "Stays open for", kind: "duration" },
    {
      name: "sleep_multiplier",
      label: "Multiplier",
      kind: "number",
      hint: "For each further opening",
    },
    { name: "sleep_max_ms", label: "Stays open at most", kind: "duration" },
    { name: "half_open_max_calls", label: "Probes", kind: "integer" },
    { name: "half_open_success_percentage", label: "Closes at success (%)", kind: "number" },
    {
      name: "force_open_until",
      label: "Force open until",
      kind: "time",
      hint: "A time in UTC: 2026-01-31T12:00:00Z",
    },
  ],
};

export const signaturePolicy: Policy = {
  name: "signature",
  fields: [
    {
      name: "scheme",
      label: "Signature scheme",
      kind: "choice",
      choices: [
        { value: "standard", label: "Standard Webhooks (HMAC-SHA256)" },
        { value: "standard-ed25519", label: "Standard Webhooks (Ed25519)" },
        { value: "t-v1", label: "t=…,v1=… in one header" },
        { value: "sha256-timestamp", label: "SHA-256 of time and body" },
        { value: "sha256-body", label: "SHA-256 of the body" },
      ],
    },
    {
      name: "header_set",
      label: "Header set",
      kind: "choice",
      choices: ["platform", "exchange", "outbox", "workspace", "tenant"].map((value) => ({
        value,
        label: value,
      })),
    },
    { name: "header_prefix", label: "Prefix of the header set", kind: "text" },
    { name: "prefixed_headers", label: "Headers with the prefix", kind: "flag" },
    { name: "standard_headers", label: "webhook-id and webhook-timestamp", kind: "flag" },
  ],
};

/** The member `a.b` of an object. */
export function memberOf(object: unknown, name: string): unknown {
  return name
    .split(".")
    .reduce<unknown>((part, key) => (part as Record<string, unknown> | null)?.[key], object);
}

/** Sets the member `a.b`, and makes the object `a` if there is none. */
export function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  const [first = "", ...rest] = name.split(".");
  if (rest.length === 0) {
    object[first] = value;
    return;
  }
  const inner = (object[first] ??= {}) as Record<string, unknown>;
  setMember(inner, rest.join("."), value);
}
