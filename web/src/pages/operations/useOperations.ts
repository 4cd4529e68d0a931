import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { api, body } from "~/api/client.ts";
import type { Operation } from "~/api/types.ts";
import { useConfirm } from "~/ui/confirm.tsx";
import { notifyDone, notifyProblem } from "~/ui/Problem.tsx";

import { isActive, kindWords } from "./operationWords.ts";

export const pollMs = 1_000;
/** A cancelled operation counts the outcome of what it had requeued. */
const outcomePollMs = 5_000;

/** One operation, followed while it is active. */
export function useOperation(id: string | undefined) {
  return useQuery({
    queryKey: ["operation", id],
    queryFn: () =>
      body(
        api.GET("/v1/operations/{id}", { params: { path: { id: id ?? "" } } }),
      ) as Promise<Operation>,
    enabled: id !== undefined,
    placeholderData: undefined,
    refetchInterval: ({ state }) => {
      if (!state.data) return false;
      if (isActive(state.data)) return pollMs;
      return state.data.waiting > 0 ? outcomePollMs : false;
    },
  });
}

/** Asks, and cancels an operation. */
export function useCancelOperation() {
  const confirm = useConfirm();
  const queries = useQueryClient();
  const cancel = useMutation({
    mutationFn: (id: string) =>
      body(api.POST("/v1/operations/{id}/cancel", { params: { path: { id } } })),
    onSuccess: () => notifyDone("The operation is cancelled."),
    onError: notifyProblem,
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: ["operation"] }),
        queries.invalidateQueries({ queryKey: ["operations"] }),
      ]),
  });
  return async (operation: Operation) => {
    const consequences =
      operation.kind === "discard"
        ? "What has been discarded stays discarded. The rest stays a dead letter."
        : "What has been requeued goes on, and its outcome is still counted. The rest stays as it is.";
    const title = `Cancel this ${kindWords(operation.kind).toLowerCase()}?`;
    if (await confirm({ title, consequences, action: "Cancel operation", decline: "Keep it" })) {
      cancel.mutate(operation.id);
    }
  };
}
