import { expect, test } from "vitest";

import { addPart, chainStart, chainWords } from "./chain.ts";

const part = { holds: true, checked: 1_500, last_sequence: 1_500, head: "aa", broken_at: null };

test("parts add up", () => {
  const whole = addPart(addPart(chainStart, part), { ...part, last_sequence: 3_000, head: "bb" });
  expect(whole).toMatchObject({ checked: 3_000, last_sequence: 3_000, head: "bb" });
  expect(chainWords(whole)).toContain("All 3,000 entries up to number 3,000");
});

test("a broken chain says where", () => {
  const broken = addPart(chainStart, { ...part, holds: false, broken_at: 1_234 });
  expect(chainWords(broken)).toContain("Entry 1,234 does not follow");
});

test("an empty log holds", () => {
  expect(chainWords(chainStart)).toBe("The audit log has no entries yet.");
});
