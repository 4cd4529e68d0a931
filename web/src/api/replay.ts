// POST /v1/webhooks/{id}/replay, also as a dry run.
import { api, body } from "./client.ts";
import { call } from "./call.ts";
import type { operations } from "./schema";
import type { Operation } from "./types.ts";

export type ReplayRequest =
  operations["replayWebhook"]["requestBody"]["content"]["application/json"];

export interface OperationCount {
  count: number;
  more?: boolean; // There are at least `count`.
}

export const countReplay = (id: string, request: ReplayRequest) =>
  call<OperationCount>("post", `/v1/webhooks/${id}/replay`, { ...request, dry_run: true });

export const startReplay = (id: string, request: ReplayRequest) =>
  body(
    api.POST("/v1/webhooks/{id}/replay", { params: { path: { id } }, body: request }),
  ) as Promise<Operation>;
