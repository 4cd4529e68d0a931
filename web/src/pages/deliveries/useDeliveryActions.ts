import { useMutation, useQueryClient } from "@tanstack/react-query";

import { api, body } from "~/api/client.ts";
import type { Delivery } from "~/api/types.ts";
import { useConfirm } from "~/ui/confirm.tsx";
import { notifyDone, notifyProblem } from "~/ui/Problem.tsx";

export type Priority = Delivery["priority"];

/** Retries and cancels single deliveries, and reloads what shows them. */
export function useDeliveryActions() {
  const queries = useQueryClient();
  const confirm = useConfirm();
  const reload = () =>
    Promise.all(
      ["deliveries", "delivery", "dead-letters"].map((key) =>
        queries.invalidateQueries({ queryKey: [key] }),
      ),
    );

  const retry = useMutation({
    mutationFn: ({ id, priority }: { id: string; priority?: Priority }) =>
      body(
        api.POST("/v1/deliveries/{id}/retry", {
          params: { path: { id } },
          body: priority ? { priority } : {},
        }),
      ),
    onSuccess: () => notifyDone("The delivery is queued again with a new budget of attempts."),
    onError: notifyProblem,
    onSettled: reload,
  });
  const cancel = useMutation({
    mutationFn: (id: string) =>
      body(api.POST("/v1/deliveries/{id}/cancel", { params: { path: { id } } })),
    onSuccess: () => notifyDone("The delivery is cancelled."),
    onError: notifyProblem,
    onSettled: reload,
  });
  const askAndCancel = async (id: string) => {
    const yes = await confirm({
      title: "Cancel this delivery?",
      consequences:
        "It is not attempted any more. An attempt that is under way now finishes, and if it succeeds, the delivery has succeeded. You can retry the delivery later.",
      action: "Cancel delivery",
      decline: "Keep it",
    });
    if (yes) cancel.mutate(id);
  };
  return {
    retry: (id: string, priority?: Priority) => retry.mutate({ id, priority }),
    retrying: retry.isPending ? retry.variables.id : null,
    cancel: askAndCancel,
    cancelling: cancel.isPending,
  };
}
