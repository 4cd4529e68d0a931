import { api, body } from "./client.ts";
import type { operations } from "#contract";

type History = operations["listOpenPeriods"]["responses"][200]["content"]["application/json"];

/** A time in which the circuit was open and nothing was sent. */
export type OpenPeriod = History["data"][number];

export const circuitHistory = (id: string, limit: number): Promise<History> =>
  body(
    api.GET("/v1/webhooks/{id}/circuit-breaker/history", {
      params: { path: { id }, query: { limit } },
    }),
  );
