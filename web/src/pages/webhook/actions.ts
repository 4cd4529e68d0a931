// What can be done with a webhook. Each action fetches the webhook again.
import { useMutation, useQueryClient } from "@tanstack/react-query";

import { api, body } from "~/api/client.ts";
import type { Webhook } from "~/api/types.ts";
import { notifyDone, notifyProblem } from "~/ui/Problem.tsx";

import { webhookKey } from "./queries.ts";

export type Action = "pause" | "resume" | "activate";

const words: Record<Action, string> = {
  pause: "The webhook is paused. Its deliveries wait.",
  resume: "The webhook is resumed. Waiting deliveries are sent.",
  activate: "The webhook is active.",
};

function run(action: Action, id: string): Promise<Webhook> {
  const params = { path: { id } };
  if (action === "pause") return body(api.POST("/v1/webhooks/{id}/pause", { params }));
  if (action === "resume") return body(api.POST("/v1/webhooks/{id}/resume", { params }));
  return body(api.PATCH("/v1/webhooks/{id}", { params, body: { active: true } }));
}

export function useWebhookAction(id: string, onMissed: (since: string) => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (action: Action) => run(action, id),
    onSuccess: (hook, action) => {
      notifyDone(words[action]);
      if (hook.replay) onMissed(hook.replay.since);
    },
    onError: notifyProblem,
    onSettled: () => queries.invalidateQueries({ queryKey: webhookKey(id) }),
  });
}

export function useDeleteWebhook(id: string, onDone: () => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => body(api.DELETE("/v1/webhooks/{id}", { params: { path: { id } } })),
    onSuccess: () => {
      notifyDone("The webhook is deleted.");
      onDone();
      queries.removeQueries({ queryKey: webhookKey(id) });
      void queries.invalidateQueries({ queryKey: ["webhooks"] });
    },
    onError: notifyProblem,
  });
}
