// How a list that is being read takes up fresh rows. Both lists are in the order of the API, newest
// first. Pure.

interface Row {
  id: string;
}

/** The number of fresh rows above the first one that is shown already. */
export function countNew(shown: Row[], fresh: Row[]): number {
  const known = new Set(shown.map((row) => row.id));
  const first = fresh.findIndex((row) => known.has(row.id));
  return first === -1 ? fresh.length : first;
}

/**
 * What is shown, brought up to date without new rows: nothing moves down. Rows that new ones pushed
 * off the page stay. Rows that no longer match the filters go.
 */
export function updateShown<Shown extends Row>(shown: Shown[], fresh: Shown[]): Shown[] {
  const byId = new Map(fresh.map((row) => [row.id, row]));
  const last = shown.findLastIndex((row) => byId.has(row.id));
  let pushedOff = countNew(shown, fresh);
  return shown.flatMap((row, index) => {
    const update = byId.get(row.id);
    if (update) return [update];
    return index > last && pushedOff-- > 0 ? [row] : [];
  });
}
