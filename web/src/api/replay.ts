// POST /v1/webhooks/{id}/replay, also as a dry run.
import { api, body } from "./client.ts";
import type { operations } from "#contract";
import type { Operation, OperationCount } from "./types.ts";

export type ReplayRequest =
  operations["replayWebhook"]["requestBody"]["content"]["application/json"];

const replay = (id: string, request: ReplayRequest) =>
  body(api.POST("/v1/webhooks/{id}/replay", { params: { path: { id } }, body: request }));

export const countReplay = (id: string, request: ReplayRequest) =>
  replay(id, { ...request, dry_run: true }) as Promise<OperationCount>;

export const startReplay = (id: string, request: ReplayRequest) =>
  replay(id, request) as Promise<Operation>;
