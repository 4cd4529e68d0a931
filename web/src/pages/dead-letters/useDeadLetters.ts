import { useQuery } from "@tanstack/react-query";

import { api, body } from "~/api/client.ts";
import { readDeadLetterGroups } from "~/api/deadLetterGroups.ts";
import { sparsePage } from "~/api/sparsePage.ts";
import { type StreamEvent, useStream } from "~/api/stream.ts";
import type { Delivery, Page } from "~/api/types.ts";
import { useHeldRows } from "~/ui/useHeldRows.ts";
import { useRefetchSoon } from "~/ui/useRefetchSoon.ts";

import {
  type DeadLetterFilters,
  deadLetterQuery,
  filterOfGroup,
  groupBy,
} from "./deadLetterFilters.ts";

export const pageSize = 50;
const groupsShown = 12;
/** Counting looks at many dead letters. */
const countsPauseMs = 4_000;

function readPage(filters: DeadLetterFilters, cursor: string | undefined): Promise<Page<Delivery>> {
  const query = deadLetterQuery(filters, Date.now());
  return sparsePage(
    (at) =>
      body(
        api.GET("/v1/dlq", { params: { query: { ...query, cursor: at, limit: pageSize } } }),
      ) as Promise<Page<Delivery>>,
    cursor,
  );
}

/** Dead letters and their groups, kept up to date. `isPicking`: rows must not move now. */
export function useDeadLetters(filters: DeadLetterFilters, isPicking: boolean) {
  const { by: _by, operation: _operation, cursor, ...narrowed } = filters;
  void _by;
  void _operation;
  const by = groupBy(filters);
  const list = useQuery({
    queryKey: ["dead-letters", "list", narrowed, cursor ?? null],
    queryFn: () => readPage(narrowed, cursor),
  });
  // Without the filter of the groups themselves, so that another group can be selected.
  const others = { ...narrowed, [filterOfGroup(by)]: undefined };
  const groups = useQuery({
    queryKey: ["dead-letters", "groups", by, others],
    queryFn: () =>
      readDeadLetterGroups({ ...deadLetterQuery(others, Date.now()), by, limit: groupsShown }),
  });
  const total = useQuery({
    queryKey: ["dead-letters", "groups", "classification", narrowed],
    queryFn: () =>
      readDeadLetterGroups({
        ...deadLetterQuery(narrowed, Date.now()),
        by: "classification",
        limit: 1,
      }),
  });

  const fresh = list.isPlaceholderData ? undefined : list.data?.data;
  const key = JSON.stringify([narrowed, cursor]);
  const held = useHeldRows(key, fresh, cursor === undefined && !isPicking);
  const rows = held.rows ?? list.data?.data;

  const listSoon = useRefetchSoon(() => list.refetch());
  const countsSoon = useRefetchSoon(
    () => Promise.all([groups.refetch(), total.refetch()]),
    countsPauseMs,
  );
  const reload = () => {
    listSoon();
    countsSoon();
  };
  const concerns = ({ kind, data }: StreamEvent) =>
    kind === "reset" ||
    (kind === "delivery" &&
      (data["status"] === "dead_letter" || rows?.some((row) => row.id === data["delivery_id"])));
  const stream = useStream({}, (events) => {
    if (events.some(concerns)) reload();
  });
  return { list, groups, total: total.data, rows, by, held, stream, reload };
}
