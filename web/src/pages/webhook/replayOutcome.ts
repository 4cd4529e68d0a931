// The numbers of a replay. Pure.
import type { Operation } from "~/api/types.ts";

export const isOver = (operation: Pick<Operation, "status"> | undefined): boolean =>
  operation !== undefined && !["scheduled", "running"].includes(operation.status);

type Progress = Pick<Operation, "status" | "total" | "done" | "skipped" | "failed">;

/** The share of items that were looked at, in percent. */
export function progressOf(operation: Progress): number {
  if (isOver(operation)) return 100;
  if (!operation.total) return 0;
  const handled = operation.done + operation.skipped + operation.failed;
  return Math.min(100, (handled / operation.total) * 100);
}

type Outcome = Pick<Operation, "requeued" | "succeeded" | "waiting" | "dead_again" | "cancelled">;

/** What became of the deliveries: the first number is the sum of the others. */
export const outcomesOf = (operation: Outcome): [name: string, count: number][] => [
  ["sent again", operation.requeued],
  ["succeeded", operation.succeeded],
  ["waiting", operation.waiting],
  ["dead again", operation.dead_again],
  ["cancelled", operation.cancelled],
];
