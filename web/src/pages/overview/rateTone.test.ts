import { expect, test } from "vitest";

import { rateTone } from "./rateTone.ts";

test.each([
  [null, undefined],
  [1, "good"],
  [0.99, "good"],
  [0.95, "wait"],
  [0.5, "bad"],
])("a success rate of %s is %s", (rate, tone) => expect(rateTone(rate)).toBe(tone));
