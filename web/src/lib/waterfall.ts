import type { Attempt } from "~/api/types.ts";

export interface Stage {
  name: string;
  start: number; // Milliseconds since the attempt began.
  duration: number;
}

/**
 * The stages of an attempt, one after the other. `first_byte` is the time from the finished
 * connection to the first byte of the response, so it includes sending the request. A stage that did
 * not happen, for example because a connection was reused, has no duration.
 */
export function stagesOf(attempt: Pick<Attempt, "timings" | "duration_ms">): Stage[] {
  const { dns, connect, tls, first_byte } = attempt.timings;
  const known: [string, number][] = [
    ["DNS", dns],
    ["Connect", connect],
    ["TLS", tls],
    ["First byte", first_byte],
  ];
  const rest = attempt.duration_ms - dns - connect - tls - first_byte;
  // Without a first byte, the remaining time was spent waiting for one.
  known.push([first_byte > 0 ? "Rest of the response" : "Waiting", Math.max(rest, 0)]);
  let start = 0;
  const stages: Stage[] = [];
  for (const [name, duration] of known) {
    stages.push({ name, start, duration });
    start += duration;
  }
  return stages;
}

/** `0.42 ms`, `12.3 ms`, `1,204 ms`. */
export function formatMs(ms: number): string {
  const digits = ms < 1 ? 2 : ms < 100 ? 1 : 0;
  const text = new Intl.NumberFormat("en", { maximumFractionDigits: digits }).format(ms);
  return `${text} ms`;
}

/** `DNS 1 ms · connect 2 ms · first byte 9 ms`: the stages that happened. */
export function timingWords({ dns, connect, tls, first_byte }: Attempt["timings"]): string {
  const stages: [string, number][] = [
    ["DNS", dns],
    ["connect", connect],
    ["TLS", tls],
    ["first byte", first_byte],
  ];
  const words = stages.filter(([, ms]) => ms > 0).map(([name, ms]) => `${name} ${formatMs(ms)}`);
  if (connect === 0 && first_byte > 0) words.unshift("connection reused");
  return words.join(" · ") || "–";
}
