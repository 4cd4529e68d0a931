import { useMutation, useQueryClient } from "@tanstack/react-query";

import { api, body } from "~/api/client.ts";
import { startDiscard } from "~/api/deadLetterOperations.ts";
import type { Delivery, Operation } from "~/api/types.ts";
import { isActive } from "~/pages/operations/operationWords.ts";
import { useConfirm } from "~/ui/confirm.tsx";
import { notifyDone, notifyProblem } from "~/ui/Problem.tsx";

import { discardParts } from "./selection.ts";

const pollMs = 200;
const letters = (count: number) => `${count} dead ${count === 1 ? "letter" : "letters"}`;

/** One after the other: a tenant may have a limited number of operations at once. */
async function discardEach(rows: Delivery[]): Promise<number> {
  let done = 0;
  for (const { event_id, webhook_id } of discardParts(rows)) {
    let operation: Operation = await startDiscard({ event_id, webhook_id });
    while (isActive(operation)) {
      await new Promise((resolve) => setTimeout(resolve, pollMs));
      const path = { id: operation.id };
      operation = (await body(api.GET("/v1/operations/{id}", { params: { path } }))) as Operation;
    }
    done += operation.done;
  }
  return done;
}

/** Asks, and discards the selected dead letters. At most a page of them. */
export function useDiscardSelected(onDone: () => void) {
  const confirm = useConfirm();
  const queries = useQueryClient();
  const discard = useMutation({
    mutationFn: discardEach,
    onSuccess: (done) => notifyDone(`${letters(done)} ${done === 1 ? "is" : "are"} discarded.`),
    onError: notifyProblem,
    onSettled: () => {
      onDone();
      return queries.invalidateQueries({ queryKey: ["dead-letters"] });
    },
  });
  const ask = async (rows: Delivery[]) => {
    const yes = await confirm({
      title: `Discard ${letters(rows.length)}?`,
      consequences:
        "They become cancelled and are no longer offered for a bulk retry. Their history is kept, " +
        "and each can still be retried on its own page.",
      action: `Discard ${rows.length}`,
    });
    if (yes) discard.mutate(rows);
  };
  return { discard: ask, isPending: discard.isPending };
}
