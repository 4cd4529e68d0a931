// GET /v1/webhooks/{id}/circuit-breaker/history
import { call } from "./call.ts";
import type { Page } from "./types.ts";

/** A time in which the circuit was open and nothing was sent. */
export interface OpenPeriod {
  opened_at: string;
  ended_at: string | null; // null: still open.
  reason: string; // `failures` or `forced`.
}

export const circuitHistory = (id: string, limit: number) =>
  call<Page<OpenPeriod>>("get", `/v1/webhooks/${id}/circuit-breaker/history?limit=${limit}`);
