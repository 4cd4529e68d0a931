import { expect, test } from "vitest";

import { sparsePage } from "./sparsePage.ts";

test("skips empty pages that have a successor, a few times", async () => {
  const asked: (string | undefined)[] = [];
  const read = (cursor: string | undefined) => {
    asked.push(cursor);
    return Promise.resolve({ data: [] as string[], next_cursor: `${asked.length}` });
  };
  expect(await sparsePage(read, undefined)).toEqual({ data: [], next_cursor: "5" });
  expect(asked).toEqual([undefined, "1", "2", "3", "4"]);
});

test("stops at the first page with items and at the end", async () => {
  const page = { data: ["a"], next_cursor: "x" };
  expect(await sparsePage(() => Promise.resolve(page), "c")).toBe(page);
  const last = { data: [], next_cursor: null };
  expect(await sparsePage(() => Promise.resolve(last), "c")).toBe(last);
});
