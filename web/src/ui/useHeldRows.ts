import { useEffect, useState } from "react";

import { countNew, updateShown } from "~/lib/heldRows.ts";

interface Shown<Row> {
  key: string;
  rows: Row[];
  newCount: number;
}

const topPixels = 40;
const pointedAt = ".data-table-frame:hover, .data-table-frame:focus-within";
/** Whether rows that move would move away from the eyes, the pointer or the keyboard. */
const isReading = () => window.scrollY > topPixels || document.querySelector(pointedAt) !== null;

/**
 * The rows to show of a list that is reloaded while it is being read. `key` names the list: another
 * one is shown at once. With `follow`, new rows appear at the top unless the visitor has scrolled,
 * or has the pointer or the focus in a table. Otherwise they are counted, and nothing moves until
 * `showNew` is called.
 */
export function useHeldRows<Row extends { id: string }>(
  key: string,
  fresh: Row[] | undefined,
  follow: boolean,
): { rows: Row[] | undefined; newCount: number; showNew: () => void } {
  const [shown, setShown] = useState<Shown<Row>>({ key: "", rows: [], newCount: 0 });
  useEffect(() => {
    if (!fresh) return;
    setShown((before) =>
      before.key !== key || (follow && !isReading())
        ? { key, rows: fresh, newCount: 0 }
        : {
            key,
            rows: updateShown(before.rows, fresh),
            newCount: countNew(before.rows, fresh),
          },
    );
  }, [fresh, key, follow]);
  const isShown = shown.key === key;
  return {
    rows: isShown ? shown.rows : fresh,
    newCount: isShown ? shown.newCount : 0,
    showNew: () => {
      window.scrollTo({ top: 0 });
      if (fresh) setShown({ key, rows: fresh, newCount: 0 });
    },
  };
}
