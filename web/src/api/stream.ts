// The live stream of the API (server-sent events). The browser reconnects by itself and resumes
// after the last event it got.
import { useEffect, useRef, useState } from "react";

/** `created`: new deliveries, which wait for their first attempt. */
const kinds = ["delivery", "created", "circuit", "alert", "reset"] as const;

export interface StreamEvent {
  kind: (typeof kinds)[number];
  data: Record<string, unknown>;
}

export type StreamState = "connecting" | "live" | "interrupted";

/** Events arrive in bursts. Pages get them together, at most once in `burstMs`. */
const soonMs = 50;
const burstMs = 500;
const retryMs = 3_000;

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/**
 * Calls `onEvents` with what happened. After `reset`, events are missing and the page must reload
 * its data. `query` are the filters of GET /v1/stream.
 */
export function useStream(
  query: Record<string, string>,
  onEvents: (events: StreamEvent[]) => void,
  enabled = true,
): StreamState {
  const [state, setState] = useState<StreamState>("connecting");
  const handler = useRef(onEvents);
  useEffect(() => {
    handler.current = onEvents;
  });
  const search = new URLSearchParams(query).toString();

  useEffect(() => {
    if (!enabled) return;
    let waiting: StreamEvent[] = [];
    let timer = 0;
    let flushedAt = 0;
    let retry = 0;
    let source: EventSource;

    const flush = () => {
      const events = waiting;
      waiting = [];
      timer = 0;
      flushedAt = Date.now();
      handler.current(events);
    };
    const add = (event: StreamEvent) => {
      waiting.push(event);
      const waitMs = Math.max(soonMs, flushedAt + burstMs - Date.now());
      if (timer === 0) timer = window.setTimeout(flush, waitMs);
    };
    const open = () => {
      source = new EventSource(search ? `/v1/stream?${search}` : "/v1/stream");
      source.onopen = () => setState("live");
      source.onerror = () => {
        setState("interrupted");
        // The browser gives up after an error answer, for example while the server restarts.
        if (source.readyState === EventSource.CLOSED) {
          retry = window.setTimeout(() => {
            add({ kind: "reset", data: {} });
            open();
          }, retryMs);
        }
      };
      for (const kind of kinds) {
        source.addEventListener(kind, (event) => {
          add({ kind, data: parsed((event as MessageEvent<string>).data) });
        });
      }
    };
    open();
    return () => {
      source.close();
      window.clearTimeout(timer);
      window.clearTimeout(retry);
    };
  }, [search, enabled]);
  return state;
}
