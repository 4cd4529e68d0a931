import type { Page } from "./types.ts";

const callsMax = 5;

/**
 * One call of the API reads a limited number of rows, so that a page may be empty although later
 * ones are not. Reads on until there is something to show, a few times at most.
 */
export async function sparsePage<Item>(
  read: (cursor: string | undefined) => Promise<Page<Item>>,
  cursor: string | undefined,
): Promise<Page<Item>> {
  let page = await read(cursor);
  for (let calls = 1; calls < callsMax; calls++) {
    if (page.data.length > 0 || page.next_cursor === null) break;
    page = await read(page.next_cursor);
  }
  return page;
}
