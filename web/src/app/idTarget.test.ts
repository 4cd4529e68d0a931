import { expect, test } from "vitest";

import { idTarget } from "./idTarget.ts";

test("an id leads to its page", () => {
  expect(idTarget("evt_01m7hfjp37e00regc3ft9xetfp")?.path).toBe(
    "/events/evt_01m7hfjp37e00regc3ft9xetfp",
  );
  expect(idTarget("ntc_01m7hfjp37e00regc3ft9xetfp")?.path).toBe(
    "/notifications/ntc_01m7hfjp37e00regc3ft9xetfp",
  );
});

test.each(["", "evt_", "key_01m7hfjp37e00regc3ft9xetfp", "../evt_01m7hfjp37e00regc3ft9xetfp"])(
  "%j is not an id with a page",
  (text) => expect(idTarget(text)).toBeNull(),
);
