// The circuit in sentences. Pure.
import type { CircuitDetail, Webhook } from "~/api/types.ts";

export function circuitWords(circuit: Pick<CircuitDetail, "state" | "forced">): string {
  if (circuit.forced === "open") {
    return "The circuit is forced open. Nothing is sent, and deliveries wait.";
  }
  if (circuit.forced === "closed") {
    return "The circuit is forced closed. Everything is sent, whatever fails.";
  }
  switch (circuit.state) {
    case "closed":
      return "Deliveries are sent as they come.";
    case "open":
      return "The receiver failed too often. Deliveries wait and use no attempts until a probe succeeds.";
    case "half_open":
      return "A few deliveries are sent as probes. If they succeed, the circuit closes.";
  }
}

/** How often the circuit has opened, and how often since it was closed last. */
export function openedWords(
  circuit: Pick<CircuitDetail, "times_opened" | "openings_in_row">,
): string {
  const { times_opened, openings_in_row } = circuit;
  if (times_opened === 0) return "never";
  const all = times_opened === 1 ? "once" : `${times_opened} times`;
  return openings_in_row > 1 ? `${all}, the last ${openings_in_row} without a recovery` : all;
}

type Config = Webhook["circuit_breaker_config"];

/** How long the circuit stays open before a probe, the first time and later. */
export const sleepWords = (config: Config, duration: (ms: number) => string): string =>
  `${duration(config.sleep_window_ms)}, then × ${config.sleep_multiplier}, ` +
  `at most ${duration(config.sleep_max_ms)}`;

/** When the circuit opens and how it closes again. Thresholds of 0 are not used. */
export function circuitRules(config: Config, duration: (ms: number) => string): string[] {
  if (!config.enabled) return ["The circuit breaker is switched off for this webhook."];
  const window =
    config.window === "count"
      ? `the last ${config.window_calls} attempts`
      : `the last ${duration(config.window_size_ms)}`;
  const rules: string[] = [];
  if (config.error_threshold_percentage > 0) {
    rules.push(
      `Opens if ${config.error_threshold_percentage} % of ${window} failed, ` +
        `with at least ${config.minimum_throughput} attempts.`,
    );
  }
  if (config.failure_count_threshold > 0) {
    rules.push(`Opens after ${config.failure_count_threshold} failures in ${window}.`);
  }
  if (config.consecutive_failure_threshold > 0) {
    rules.push(`Opens after ${config.consecutive_failure_threshold} timeouts in a row.`);
  }
  rules.push(`Probes after ${sleepWords(config, duration)}.`);
  return rules;
}
