import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, body } from "~/api/client.ts";
import { notifyDone, notifyProblem } from "~/ui/Problem.tsx";

/** Retries the selected dead letters, one after the other. At most a page of them. */
export function useRetrySelected(onDone: () => void) {
  const queries = useQueryClient();
  const [done, setDone] = useState(0);
  const retry = useMutation({
    mutationFn: async (ids: string[]) => {
      const problems: unknown[] = [];
      for (const [index, id] of ids.entries()) {
        setDone(index);
        const path = { delivery_id: id };
        await body(api.POST("/v1/dlq/{delivery_id}/retry", { params: { path }, body: {} })).catch(
          (problem: unknown) => problems.push(problem),
        );
      }
      return { succeeded: ids.length - problems.length, problems };
    },
    onSuccess: ({ succeeded, problems }) => {
      if (succeeded > 0) {
        notifyDone(
          `${succeeded} ${succeeded === 1 ? "delivery is" : "deliveries are"} queued again.`,
        );
      }
      if (problems.length > 0) notifyProblem(problems[0]);
    },
    onSettled: () => {
      onDone();
      return queries.invalidateQueries({ queryKey: ["dead-letters"] });
    },
  });
  return { retry: (ids: string[]) => retry.mutate(ids), isPending: retry.isPending, done };
}
