import { useMutation } from "@tanstack/react-query";

import { countDiscard, startDiscard } from "~/api/deadLetterOperations.ts";
import type { Operation } from "~/api/types.ts";
import { useConfirm } from "~/ui/confirm.tsx";
import { notifyDone, notifyProblem } from "~/ui/Problem.tsx";

import { countWords } from "./BulkRetry.tsx";
import type { DeadLetterQuery } from "./deadLetterFilters.ts";

/** More than this needs a typed word. */
const clickableMax = 100;

/** Counts, asks, and discards the dead letters that match. */
export function useDiscard(onStarted: (operation: Operation) => void) {
  const confirm = useConfirm();
  const discard = useMutation({
    mutationFn: async ({ query, scope }: { query: DeadLetterQuery; scope: string }) => {
      const filter = { ...query };
      const found = await countDiscard(filter);
      if (found.count === 0) {
        notifyDone("There is nothing to discard.");
        return null;
      }
      const words = countWords(found);
      const yes = await confirm({
        title: `Discard ${words} dead ${found.count === 1 ? "letter" : "letters"}?`,
        consequences: `The selection: ${scope}. They become cancelled and are no longer offered for a bulk retry. Their history is kept, and each can still be retried on its own page.`,
        action: `Discard ${words}`,
        typeToConfirm: found.count > clickableMax || found.more ? "discard" : undefined,
      });
      return yes ? startDiscard(filter) : null;
    },
    onSuccess: (operation) => {
      if (operation) onStarted(operation);
    },
    onError: notifyProblem,
  });
  return {
    discard: (query: DeadLetterQuery, scope: string) => discard.mutate({ query, scope }),
    isCounting: discard.isPending,
  };
}
