import type { Webhook } from "~/api/types.ts";

export type WebhookState = "active" | "paused" | "inactive" | "disabled";

/** One word for whether a webhook receives. `disabled`: the server switched it off. */
export function webhookState(hook: Pick<Webhook, "active" | "paused" | "disabled_reason">) {
  if (!hook.active) return hook.disabled_reason ? "disabled" : "inactive";
  return hook.paused ? "paused" : "active";
}
