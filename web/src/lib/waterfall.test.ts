import { expect, test } from "vitest";

import { formatMs, stagesOf, timingWords } from "./waterfall.ts";

test("stages follow each other and end with the rest of the response", () => {
  const timings = { dns: 1, connect: 2, tls: 0, first_byte: 4 };
  expect(stagesOf({ timings, duration_ms: 10 })).toEqual([
    { name: "DNS", start: 0, duration: 1 },
    { name: "Connect", start: 1, duration: 2 },
    { name: "TLS", start: 3, duration: 0 },
    { name: "First byte", start: 3, duration: 4 },
    { name: "Rest of the response", start: 7, duration: 3 },
  ]);
});

test("without an answer the rest was waiting", () => {
  const timings = { dns: 0, connect: 1, tls: 0, first_byte: 0 };
  expect(stagesOf({ timings, duration_ms: 101 }).at(-1)).toEqual({
    name: "Waiting",
    start: 1,
    duration: 100,
  });
});

test("rounding never gives a negative stage", () => {
  const timings = { dns: 0, connect: 0, tls: 0, first_byte: 5.001 };
  expect(stagesOf({ timings, duration_ms: 5 }).at(-1)?.duration).toBe(0);
});

test("short times keep their digits", () => {
  expect(formatMs(0.421)).toBe("0.42 ms");
  expect(formatMs(12.34)).toBe("12.3 ms");
  expect(formatMs(1204.5)).toBe("1,205 ms");
});

test("only the stages that happened are told", () => {
  expect(timingWords({ dns: 1, connect: 2, tls: 3, first_byte: 4 })).toBe(
    "DNS 1 ms · connect 2 ms · TLS 3 ms · first byte 4 ms",
  );
  expect(timingWords({ dns: 0, connect: 0, tls: 0, first_byte: 4 })).toBe(
    "connection reused · first byte 4 ms",
  );
  expect(timingWords({ dns: 0, connect: 0, tls: 0, first_byte: 0 })).toBe("–");
});
