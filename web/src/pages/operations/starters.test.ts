import { expect, test } from "vitest";

import type { AuditRecord } from "~/api/types.ts";

import { startersOf } from "./starters.ts";

test("an operation was started by a key with or without a name", () => {
  const record = (subject: string, actor: string, actor_name: string) =>
    ({ subject, actor, actor_name }) as AuditRecord;
  const starters = startersOf([record("opr_1", "key_1", "importer"), record("opr_2", "key_2", "")]);
  expect(starters.get("opr_1")).toBe("importer");
  expect(starters.get("opr_2")).toBe("key_2");
  expect(starters.get("opr_3")).toBeUndefined();
});
