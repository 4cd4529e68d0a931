import { expect, test } from "vitest";

import { repeatSeconds } from "./repeat.ts";

test.each([
  ["1 min", 60],
  ["1 h 30 min", 5_400],
  ["30 d", 2_592_000],
  ["59 s", null],
  ["31 d", null],
  ["often", null],
  ["", null],
])("%j is %j seconds", (text, seconds) => expect(repeatSeconds(text)).toBe(seconds));
