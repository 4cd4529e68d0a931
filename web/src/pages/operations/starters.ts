import type { AuditRecord } from "~/api/types.ts";

/** The name of who started each operation, by the operation's id. Pure. */
export const startersOf = (records: AuditRecord[]): Map<string, string> =>
  new Map(records.map(({ subject, actor, actor_name }) => [subject, actor_name || actor]));
