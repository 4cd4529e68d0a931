import { describe, expect, test } from "vitest";

import type { Signature } from "./plan.ts";
import { languages, parseLanguage, snippet, variableOf } from "./snippets.ts";

const schemes = [
  "standard",
  "standard-ed25519",
  "t-v1",
  "sha256-timestamp",
  "sha256-body",
] as const satisfies Signature["scheme"][];
const of = (scheme: Signature["scheme"], header_prefix = "X-Webhook-") => ({
  scheme,
  header_prefix,
});

describe.each(languages)("$label", ({ value }) => {
  test.each(schemes)("%s reads its key from the environment", (scheme) => {
    const { code } = snippet(value, of(scheme));
    expect(code).toContain(variableOf(of(scheme)));
    expect(code).not.toContain("undefined");
    expect(code.endsWith("\n\n")).toBe(false);
  });

  test("the header prefix of the webhook is used, and only where it matters", () => {
    const { code } = snippet(value, of("t-v1", "X-Acme-"));
    expect(code.toLowerCase()).toContain("x-acme-");
    expect(snippet(value, of("standard", "X-Acme-")).code.toLowerCase()).not.toContain("x-acme-");
  });

  test("lines stay short enough to read", () => {
    for (const scheme of schemes) {
      const long = snippet(value, of(scheme))
        .code.split("\n")
        .filter((line) => line.length > 110);
      expect(long).toEqual([]);
    }
  });
});

test("a prefix cannot end a quoted text", () => {
  const prefix = "X-It's$a#";
  expect(snippet("php", of("sha256-body", prefix)).code).toContain("'x-it\\'s$a#signature'");
  expect(snippet("ruby", of("sha256-body", prefix)).code).toContain("'x-it\\'s$a#signature'");
  expect(snippet("node", of("sha256-body", prefix)).code).toContain('"x-it\'s$a#signature"');
});

test("an unknown language is the first one", () => {
  expect(parseLanguage("cobol")).toBe("node");
  expect(parseLanguage("go")).toBe("go");
});
