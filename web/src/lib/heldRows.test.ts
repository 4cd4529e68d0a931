import { expect, test } from "vitest";

import { countNew, updateShown } from "./heldRows.ts";

const row = (id: string, state = "old") => ({ id, state });

test("counts what is above what is shown", () => {
  expect(countNew([row("3")], [row("5"), row("4"), row("3")])).toBe(2);
  expect(countNew([row("3")], [row("3")])).toBe(0);
  expect(countNew([], [row("3")])).toBe(1);
  expect(countNew([row("3")], [])).toBe(0);
});

test("updates rows in place, adds none, keeps those pushed off the page", () => {
  const shown = [row("3"), row("2"), row("1")];
  const fresh = [row("4", "new"), row("3", "new"), row("2", "new")];
  expect(updateShown(shown, fresh)).toEqual([row("3", "new"), row("2", "new"), row("1")]);
});

test("removes rows that no longer match", () => {
  expect(updateShown([row("3"), row("2"), row("1")], [row("3"), row("1")])).toEqual([
    row("3"),
    row("1"),
  ]);
  expect(updateShown([row("3"), row("2")], [row("3")])).toEqual([row("3")]);
  expect(updateShown([row("3")], [])).toEqual([]);
});
