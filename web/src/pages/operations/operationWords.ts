// What is said about operations. Pure.
import type { Operation } from "~/api/types.ts";
import { formatCount, formatDuration, formatWord } from "~/lib/format.ts";

const kinds: Record<Operation["kind"], string> = {
  retry_batch: "Bulk retry",
  replay: "Replay",
  discard: "Discard",
};

export const kindWords = (kind: Operation["kind"]): string => kinds[kind];

/** Not finished: it moves, and it can be cancelled. */
export const isActive = (operation: Pick<Operation, "status">) =>
  operation.status === "scheduled" || operation.status === "running";

type Counted = Pick<
  Operation,
  | "kind"
  | "status"
  | "total"
  | "done"
  | "skipped"
  | "failed"
  | "requeued"
  | "waiting"
  | "requeue_finished_at"
>;

export interface Progress {
  words: string;
  share: number | null; // 0 to 1; null if it is not known.
}

/** How far it is: first with the requeueing, then with the outcome of the deliveries. */
export function progressOf(operation: Counted): Progress {
  const processed = operation.done + operation.skipped + operation.failed;
  if (operation.status === "scheduled") return { words: "Not started", share: 0 };
  if (operation.status === "running" && operation.requeue_finished_at !== null) {
    const settled = operation.requeued - operation.waiting;
    return {
      words: `${formatCount(settled)} of ${formatCount(operation.requeued)} have an outcome`,
      share: operation.requeued > 0 ? settled / operation.requeued : 1,
    };
  }
  if (operation.total === null) {
    return { words: `${formatCount(processed)} processed`, share: null };
  }
  return {
    words: `${formatCount(processed)} of ${formatCount(operation.total)} processed`,
    share: operation.total > 0 ? Math.min(processed / operation.total, 1) : 1,
  };
}

export interface Outcome {
  name: string;
  count: number;
  tone: "good" | "bad" | "wait" | "plain";
}

/** What became of the deliveries. A discard only says what it discarded. */
export function outcomesOf(operation: Operation): Outcome[] {
  const rest: Outcome[] = [
    { name: "Skipped", count: operation.skipped, tone: "plain" },
    { name: "Webhook deleted", count: operation.failed, tone: "bad" },
  ];
  if (operation.kind === "discard") {
    return [{ name: "Discarded", count: operation.done, tone: "plain" }, ...rest];
  }
  return [
    { name: "Requeued", count: operation.requeued, tone: "plain" },
    { name: "Succeeded", count: operation.succeeded, tone: "good" },
    { name: "Dead again", count: operation.dead_again, tone: "bad" },
    { name: "Waiting", count: operation.waiting, tone: "wait" },
    { name: "Cancelled", count: operation.cancelled, tone: "plain" },
    ...rest,
  ];
}

/** The same in one line: `90 requeued, 60 succeeded, 5 dead again, 25 waiting`. */
export function outcomeWords(operation: Operation): string {
  const said = operation.kind === "discard" ? 1 : 4;
  return outcomesOf(operation)
    .slice(0, said)
    .map(({ name, count }) => `${formatCount(count)} ${name.toLowerCase()}`)
    .join(", ");
}

/** What the operation covers, for example `order.paid, timeout`. */
export function filterWords(filter: Operation["filter"]): string {
  const { webhook_ids, event_types, failure_categories, classification, ...others } = filter;
  const words = [
    ...(webhook_ids ?? []),
    ...(event_types ?? []),
    ...(failure_categories ?? []).map(formatWord),
  ];
  if (classification) words.push(classification);
  if (others.event_id) words.push(others.event_id);
  if (others.resource_id) words.push(`resource ${others.resource_id}`);
  if (others.tenant_id) words.push(`tenant ${others.tenant_id}`);
  if (others.from) words.push(`from ${others.from}`);
  if (others.to) words.push(`to ${others.to}`);
  return words.length > 0 ? words.join(", ") : "Everything";
}

/** How fast and how often, for example `50 per second, every 1 h`. */
export function paceWords(
  operation: Pick<Operation, "rate_limit" | "repeat_every_seconds" | "runs">,
): string {
  const rate = operation.rate_limit?.requests_per_second;
  const words = [rate ? `${formatCount(rate)} per second` : "as fast as possible"];
  if (operation.repeat_every_seconds) {
    words.push(`every ${formatDuration(operation.repeat_every_seconds * 1_000)}`);
    words.push(`run ${operation.runs}`);
  }
  return words.join(", ");
}
