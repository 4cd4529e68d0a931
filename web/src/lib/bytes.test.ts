import { expect, test } from "vitest";

import { formatBytes } from "./bytes.ts";

test.each([
  [0, "0 B"],
  [1_023, "1023 B"],
  [1_536, "1.5 KiB"],
  [262_144, "256 KiB"],
  [5 * 1_024 ** 4, "5120 GiB"],
])("%i bytes are %s", (bytes, text) => expect(formatBytes(bytes)).toBe(text));
