import { expect, test } from "vitest";

import { formatCountdown } from "./countdown.ts";

test.each([
  [0, "00:00:00"],
  [-5, "00:00:00"],
  [999, "00:00:01"],
  [3_723_000, "01:02:03"],
  [86_400_000 + 61_000, "1 d 00:01:01"],
])("%s ms is %s", (ms, text) => expect(formatCountdown(ms)).toBe(text));
