import { useQuery } from "@tanstack/react-query";

import { api, body } from "~/api/client.ts";
import { sparsePage } from "~/api/sparsePage.ts";
import { type StreamState, useStream } from "~/api/stream.ts";
import type { Delivery, Page } from "~/api/types.ts";
import { useHeldRows } from "~/ui/useHeldRows.ts";
import { useRefetchSoon } from "~/ui/useRefetchSoon.ts";

import { type DeliveryFilters, deliveryQuery, streamQuery } from "./deliveryFilters.ts";

export const pageSize = 50;
/** The stream does not tell when an attempt begins, or what holds a delivery back. */
const pollMs = 30_000;

function readPage(filters: DeliveryFilters, cursor: string | undefined): Promise<Page<Delivery>> {
  const query = deliveryQuery(filters, Date.now());
  return sparsePage(
    (at) =>
      body(
        api.GET("/v1/deliveries", { params: { query: { ...query, cursor: at, limit: pageSize } } }),
      ) as Promise<Page<Delivery>>,
    cursor,
  );
}

export interface LiveDeliveries {
  rows: Delivery[] | undefined;
  next: string | null;
  error: unknown;
  refetch: () => void;
  newCount: number; // Deliveries that are not shown yet, at most a page.
  showNew: () => void;
  stream: StreamState;
}

/**
 * A page of deliveries that stays up to date. New ones appear at once if the visitor looks at the
 * start of the list and `live` is on. Otherwise they are counted, and nothing moves.
 */
export function useLiveDeliveries(filters: DeliveryFilters): LiveDeliveries {
  const { cursor, live: liveFilter, ...narrowed } = filters;
  const live = liveFilter !== "off";
  const isFirst = cursor === undefined;
  const common = {
    refetchInterval: live ? pollMs : (false as const),
    refetchOnWindowFocus: live,
  };
  const page = useQuery({
    queryKey: ["deliveries", narrowed, cursor ?? null],
    queryFn: () => readPage(narrowed, cursor),
    ...common,
  });
  const head = useQuery({
    queryKey: ["deliveries", narrowed, null],
    queryFn: () => readPage(narrowed, undefined),
    enabled: isFirst || live,
    ...common,
  });
  const soon = useRefetchSoon(() => Promise.all([page.refetch(), isFirst ? null : head.refetch()]));
  const stream = useStream(streamQuery(filters), soon, live);
  const fresh = head.isPlaceholderData ? undefined : head.data?.data;
  const held = useHeldRows(JSON.stringify(narrowed), fresh, isFirst && live);
  return {
    rows: (isFirst ? held.rows : undefined) ?? page.data?.data,
    next: page.data?.next_cursor ?? null,
    error: page.error,
    refetch: () => void page.refetch(),
    newCount: held.newCount,
    showNew: held.showNew,
    stream,
  };
}
