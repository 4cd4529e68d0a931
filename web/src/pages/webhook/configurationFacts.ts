// The configuration in words. Pure.
import type { Webhook } from "~/api/types.ts";
import { formatCount, formatDuration, formatWord } from "~/lib/format.ts";

import { sleepWords } from "./circuitWords.ts";

export type Fact = [name: string, value: string | undefined];

const yesNo = (value: boolean) => (value ? "yes" : "no");
const share = (value: number) => `${Math.round(value * 100)} %`;

export function rateWords(rate: Webhook["rate_limit"]): string {
  if (!rate) return "none";
  const burst = `, bursts of ${rate.burst}`;
  if (rate.requests_per_second) return `${rate.requests_per_second} / s${burst}`;
  return `${rate.requests_per_minute ?? 0} / min${burst}`;
}

export const deliveryFacts = (hook: Webhook): Fact[] => [
  ["Timeout", formatDuration(hook.timeout_ms)],
  ["Concurrent requests", `at most ${hook.max_in_flight}`],
  ["Rate limit", rateWords(hook.rate_limit)],
  ["Order", formatWord(hook.ordering_guarantee)],
  ["Payload format", hook.payload_format],
  ["Body form", hook.payload.form],
];

function delays(retry: Webhook["retry_config"]): string {
  if (retry.schedule_ms.length > 0) return retry.schedule_ms.map(formatDuration).join(", ");
  return (
    `${formatDuration(retry.base_delay_ms)}, then × ${retry.backoff_multiplier}, ` +
    `at most ${formatDuration(retry.max_delay_ms)}`
  );
}

export const retryFacts = (retry: Webhook["retry_config"]): Fact[] => [
  ["Preset", retry.preset ?? "none"],
  ["Attempts", `${retry.max_attempts}${retry.max_attempts_auto ? " (auto)" : ""}`],
  ["Delays", delays(retry)],
  [
    "Jitter",
    `−${share(retry.jitter.minus)} to +${share(retry.jitter.plus)}` +
      (retry.jitter.extra_ms > 0 ? `, up to ${formatDuration(retry.jitter.extra_ms)} more` : ""),
  ],
  ["Timeout growth", `× ${retry.timeout_growth_factor}`],
  ["Permanent statuses", retry.permanent_statuses.join(", ") || "none"],
  ["Respects Retry-After", yesNo(retry.honor_retry_after)],
  ["Attempts after TLS errors", String(retry.ssl_max_attempts)],
];

export function breakerFacts(breaker: Webhook["circuit_breaker_config"]): Fact[] {
  const threshold = (value: number, text: string) => (value > 0 ? text : "not used");
  return [
    ["Preset", breaker.preset ?? "none"],
    ["Enabled", yesNo(breaker.enabled)],
    [
      "Window",
      breaker.window === "count"
        ? `${formatCount(breaker.window_calls)} attempts`
        : formatDuration(breaker.window_size_ms),
    ],
    ["Minimum attempts", String(breaker.minimum_throughput)],
    [
      "Error share",
      threshold(breaker.error_threshold_percentage, `${breaker.error_threshold_percentage} %`),
    ],
    [
      "Failures",
      threshold(breaker.failure_count_threshold, String(breaker.failure_count_threshold)),
    ],
    [
      "Timeouts in a row",
      threshold(
        breaker.consecutive_failure_threshold,
        String(breaker.consecutive_failure_threshold),
      ),
    ],
    ["Opens for", sleepWords(breaker, formatDuration)],
    [
      "Probes",
      `${breaker.half_open_max_calls}, of which ${breaker.half_open_success_percentage} % must succeed`,
    ],
  ];
}

export const signatureFacts = ({ signature, public_key }: Webhook): Fact[] => [
  ["Scheme", signature.scheme],
  ["Header prefix", signature.header_prefix],
  ["Header set", signature.header_set],
  ["Standard headers", yesNo(signature.standard_headers)],
  ["Prefixed headers", yesNo(signature.prefixed_headers)],
  ["Public key", public_key ?? undefined],
];
