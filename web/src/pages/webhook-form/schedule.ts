// Where the drawing of a retry schedule puts its points. Pure.
import type { PlannedRetry } from "~/api/webhookPreview.ts";
import { formatDuration } from "~/lib/format.ts";

export interface Point {
  attempt: number;
  at: number; // 0 to 1.
  from: number; // With jitter.
  to: number;
}

export interface Tick {
  label: string;
  at: number;
}

const tickTimes = [1e3, 1e4, 6e4, 6e5, 36e5, 216e5, 864e5, 2592e5, 6048e5];
const tickDistance = 0.12;

/** Early attempts are close together: the scale is logarithmic after the first delay. */
function scaleOf(schedule: PlannedRetry[]): (ms: number) => number {
  const first = Math.max(schedule[0]?.at_ms ?? 1, 1);
  const last = schedule.at(-1);
  const end = last ? last.at_ms + last.delay_max_ms - last.delay_ms : first;
  const whole = Math.log1p(Math.max(end, 1) / first);
  return (ms) => Math.min(1, Math.log1p(Math.max(ms, 0) / first) / whole);
}

export function drawSchedule(schedule: PlannedRetry[]): { points: Point[]; ticks: Tick[] } {
  const scale = scaleOf(schedule);
  const points = schedule.map((retry) => ({
    attempt: retry.attempt,
    at: scale(retry.at_ms),
    from: scale(retry.at_ms - retry.delay_ms + retry.delay_min_ms),
    to: scale(retry.at_ms - retry.delay_ms + retry.delay_max_ms),
  }));
  const ticks: Tick[] = [];
  const end = schedule.at(-1)?.at_ms ?? 0;
  for (const time of tickTimes) {
    const at = scale(time);
    const before = ticks.at(-1)?.at ?? 0;
    if (time <= end && at - before >= tickDistance) ticks.push({ label: formatDuration(time), at });
  }
  return { points: [{ attempt: 1, at: 0, from: 0, to: 0 }, ...points], ticks };
}

/** The schedule in words. */
export function describeSchedule(schedule: PlannedRetry[]): string {
  const last = schedule.at(-1);
  if (!last) return "One attempt, no retries.";
  return `${last.attempt} attempts. The last one comes ${formatDuration(last.at_ms)} after the first.`;
}

export function describeRetry(retry: PlannedRetry): string {
  const { delay_ms, delay_min_ms, delay_max_ms } = retry;
  const jitter =
    delay_min_ms === delay_max_ms
      ? ""
      : ` (${formatDuration(delay_min_ms)} to ${formatDuration(delay_max_ms)})`;
  return `Attempt ${retry.attempt}: ${formatDuration(delay_ms)} later${jitter}`;
}
