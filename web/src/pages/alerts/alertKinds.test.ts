import { expect, test } from "vitest";

import type { Alert } from "~/api/types.ts";

import { alertKinds, kindChoices, wordsOf } from "./alertKinds.ts";

test("tenants are not offered kinds of the server", () => {
  const kinds = kindChoices(false).map((choice) => choice.value);
  expect(kinds).toContain("circuit_opened");
  expect(kinds).not.toContain("store_failing");
  expect(kindChoices(true).length).toBe(Object.keys(alertKinds).length);
});

test("the next step leads to the webhook or its dead letters", () => {
  const alert = { webhook_id: "whk_1", tenant_id: "a&b" } as Alert;
  expect(wordsOf("circuit_opened").link?.path(alert)).toBe("/webhooks/whk_1");
  expect(wordsOf("dead_letters").link?.path(alert)).toBe("/dead-letters?webhook_id=whk_1");
  const tenants = { ...alert, webhook_id: null };
  expect(wordsOf("dead_letters_waiting").link?.path(tenants)).toBe("/dead-letters?tenant_id=a%26b");
});

test("an unknown kind is shown by its name", () => {
  expect(wordsOf("new_kind").title).toBe("new kind");
});
