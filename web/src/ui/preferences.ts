// What a visitor prefers to see, kept in this browser.
import { useLocalStorage } from "@mantine/hooks";

import type { TimeZoneMode } from "~/lib/format.ts";

export function useTimeZone() {
  return useLocalStorage<TimeZoneMode>({ key: "postrider-time-zone", defaultValue: "local" });
}

/** The columns of a table that are not shown. */
export function useHiddenColumns(table: string, initial: string[]) {
  return useLocalStorage<string[]>({ key: `postrider-columns-${table}`, defaultValue: initial });
}
