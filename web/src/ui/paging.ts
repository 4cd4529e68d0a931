import type { Paging } from "./DataTable.tsx";

/** Paging of a list whose cursor lives in the address bar. `page` is undefined while it loads. */
export const pagingBy = (
  page: { next_cursor: string | null } | undefined,
  filters: { cursor?: string },
  change: (changes: { cursor: string | null }) => void,
): Paging => ({
  next: page?.next_cursor ?? null,
  isFirst: !filters.cursor,
  go: (cursor) => change({ cursor }),
});
