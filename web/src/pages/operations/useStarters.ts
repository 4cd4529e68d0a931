import { useQuery } from "@tanstack/react-query";

import { api, body } from "~/api/client.ts";
import { useRights } from "~/api/session.tsx";
import type { AuditRecord, Operation, Page } from "~/api/types.ts";

import { startersOf } from "./starters.ts";

/** The actions that start an operation. */
const actions = ["dead_letters.retry", "dead_letters.discard", "webhook.replay"];
const recordsMax = 250;

async function readStarters(): Promise<Map<string, string>> {
  const pages = await Promise.all(
    actions.map(
      (action) =>
        body(
          api.GET("/v1/audit-log", { params: { query: { action, limit: recordsMax } } }),
        ) as Promise<Page<AuditRecord>>,
    ),
  );
  return startersOf(pages.flatMap((page) => page.data));
}

/** Who started the operations, as the audit log has it. Only admins of the operator may read it. */
export function useStarters(operations: Operation[] | undefined): Map<string, string> | null {
  const rights = useRights();
  const isAllowed = rights.operator && rights.admin;
  const starters = useQuery({
    queryKey: ["operation-starters", operations?.map(({ id }) => id)],
    queryFn: readStarters,
    enabled: isAllowed && (operations?.length ?? 0) > 0,
    staleTime: Infinity,
  });
  return isAllowed ? (starters.data ?? new Map<string, string>()) : null;
}
