import { api, body } from "./client.ts";
import type { operations } from "#contract";

type GroupQuery = operations["groupDeadLetters"]["parameters"]["query"];

export type GroupBy = GroupQuery["by"];
export type DeadLetterGroups =
  operations["groupDeadLetters"]["responses"][200]["content"]["application/json"];
export type DeadLetterGroup = DeadLetterGroups["data"][number];

/** Counts dead letters in groups, largest first. */
export const readDeadLetterGroups = (query: GroupQuery): Promise<DeadLetterGroups> =>
  body(api.GET("/v1/dlq/groups", { params: { query } }));
