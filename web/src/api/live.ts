// Keeps queries fresh while things happen on the server.
import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import { type StreamEvent, type StreamState, useStream } from "./stream.ts";

/** Under constant traffic, the queries are fetched again this often. */
const refetchMs = 2_000;

/**
 * Fetches the queries again after something happened: at once if it was quiet before, otherwise
 * when the last refetch is two seconds old. `wanted` selects the events that matter.
 */
export function useLiveQueries(
  query: Record<string, string>,
  keys: QueryKey[],
  wanted: (event: StreamEvent) => boolean = () => true,
): StreamState {
  const queries = useQueryClient();
  const timer = useRef(0);
  const last = useRef(0);
  const current = useRef(keys);
  useEffect(() => {
    current.current = keys;
  });
  useEffect(() => () => window.clearTimeout(timer.current), []);

  const refetch = () => {
    timer.current = 0;
    last.current = Date.now();
    for (const queryKey of current.current) void queries.invalidateQueries({ queryKey });
  };
  return useStream(query, (events) => {
    if (timer.current !== 0 || !events.some(wanted)) return;
    timer.current = window.setTimeout(refetch, Math.max(0, last.current + refetchMs - Date.now()));
  });
}
