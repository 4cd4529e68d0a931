import { expect, test } from "vitest";

import { toCurl } from "./curl.ts";

test("quotes everything that came from others", () => {
  const request = {
    method: "POST" as const,
    url: "https://example.com/$(id)",
    headers: { "content-length": "3", "x-note": "it's" },
    body: "{'`'}",
  };
  expect(toCurl(request)).toBe(
    `curl -X POST 'https://example.com/$(id)' \\\n  -H 'x-note: it'\\''s' \\\n  --data-binary '{'\\''\`'\\''}'`,
  );
});
