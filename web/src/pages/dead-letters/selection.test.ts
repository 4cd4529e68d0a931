import { expect, test } from "vitest";

import { discardParts } from "./selection.ts";

test("dead letters of one event are discarded together", () => {
  const row = (event_id: string, webhook_id: string) => ({ event_id, webhook_id });
  expect(
    discardParts([row("evt_1", "whk_1"), row("evt_2", "whk_1"), row("evt_1", "whk_2")]),
  ).toEqual([
    { event_id: "evt_1", webhook_id: "whk_1,whk_2", count: 2 },
    { event_id: "evt_2", webhook_id: "whk_1", count: 1 },
  ]);
  expect(discardParts([])).toEqual([]);
});
