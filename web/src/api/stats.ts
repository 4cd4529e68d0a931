// GET /v1/stats, with the state at this moment beside the numbers of the time range.
import { bucketOf, type Range } from "~/lib/stats.ts";

import { api, body } from "./client.ts";
import type { Stats, StatsQuery } from "./types.ts";

export interface StatsNow {
  waiting: number;
  in_flight: number;
  dead_letters: number;
  open_circuits: number;
}

export type StatsWithNow = Stats & { now?: StatsNow };

export const readStats = (range: Range, query: StatsQuery = {}) =>
  body(
    api.GET("/v1/stats", {
      params: { query: { period: range, bucket: bucketOf(range), ...query } },
    }),
  ) as Promise<StatsWithNow>;
