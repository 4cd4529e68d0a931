import { expect, test } from "vitest";

import { toCsv } from "./export.ts";

test("fields with separators, quotes and line ends are quoted", () => {
  expect(toCsv(["a", "b"], [['x,"y"', "1\n2"]])).toBe('a,b\r\n"x,""y""","1\n2"\r\n');
});

test("text that looks like a formula stays text", () => {
  expect(toCsv(["a"], [["=1+1"], ["-2"], [-2], [null]])).toBe("a\r\n'=1+1\r\n'-2\r\n-2\r\n\r\n");
});
