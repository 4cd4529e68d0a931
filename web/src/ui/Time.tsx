import { Text, Tooltip } from "@mantine/core";
import { useSyncExternalStore } from "react";

import { formatRelative, formatTime } from "~/lib/format.ts";

import { useTimeZone } from "./preferences.ts";

// One clock for all relative times of the page.
let now = Date.now();
const listeners = new Set<() => void>();
let timer = 0;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === 0) {
    timer = window.setInterval(() => {
      now = Date.now();
      for (const each of listeners) each();
    }, 1_000);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      window.clearInterval(timer);
      timer = 0;
    }
  };
}

export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

/** A time as `5 min ago`, with the exact time as a tooltip; or the other way round. */
export function Time({ at, exact = false }: { at: string | null | undefined; exact?: boolean }) {
  const current = useNow();
  const [zone] = useTimeZone();
  if (!at) return <Text span>–</Text>;
  const relative = formatRelative(at, current);
  const absolute = formatTime(at, zone);
  return (
    <Tooltip label={exact ? relative : formatTime(at, zone, true)}>
      <time dateTime={at}>{exact ? absolute : relative}</time>
    </Tooltip>
  );
}
