import { Text, Tooltip } from "@mantine/core";
import { useSyncExternalStore } from "react";

import { formatRelative, formatTime } from "~/lib/format.ts";

import { clockNow, subscribeToClock } from "./clock.ts";
import { useTimeZone } from "./preferences.ts";

export function useNow(): number {
  return useSyncExternalStore(subscribeToClock, clockNow);
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
