// How a receiver verifies the requests of a webhook, in its own signature scheme. The key is read
// from the environment: a snippet never contains a secret. Each is run by a test where its language
// is at hand.
import { cpp } from "./cpp.ts";
import { go } from "./go.ts";
import { java } from "./java.ts";
import { node } from "./node.ts";
import { php } from "./php.ts";
import { type Plan, planOf, type Signature } from "./plan.ts";
import { python } from "./python.ts";
import { ruby } from "./ruby.ts";

export { variableOf } from "./plan.ts";

export const languages = [
  { value: "node", label: "Node.js" },
  { value: "python", label: "Python" },
  { value: "cpp", label: "C++" },
  { value: "go", label: "Go" },
  { value: "php", label: "PHP" },
  { value: "ruby", label: "Ruby" },
  { value: "java", label: "Java" },
] as const;
export type Language = (typeof languages)[number]["value"];

/** A language from the address bar. Anything unknown is the first. */
export const parseLanguage = (text: string | undefined): Language =>
  languages.find(({ value }) => value === text)?.value ?? "node";

interface Writer {
  file: string;
  needs: (plan: Plan) => string;
  write: (plan: Plan) => string;
}

const writers: Record<Language, Writer> = {
  node: { file: "verify.mjs", needs: () => "Node.js 18 or later, no packages", write: node },
  python: {
    file: "verify.py",
    needs: (plan) =>
      plan.isPublic
        ? "Python 3.8 or later with the package cryptography"
        : "Python 3.8 or later, standard library only",
    write: python,
  },
  cpp: {
    file: "verify.cc",
    needs: () => "C++17 or later, the header postrider/verify.h and OpenSSL's libcrypto",
    write: cpp,
  },
  go: { file: "verify.go", needs: () => "Go 1.18 or later, standard library only", write: go },
  php: {
    file: "verify.php",
    needs: (plan) => (plan.isPublic ? "PHP 8 or later with sodium" : "PHP 8 or later"),
    write: php,
  },
  ruby: { file: "verify.rb", needs: () => "Ruby 3.0 or later, standard library only", write: ruby },
  java: {
    file: "WebhookVerifier.java",
    needs: () => "Java 17 or later, standard library only",
    write: java,
  },
};

export interface Snippet {
  file: string;
  needs: string;
  code: string;
}

export function snippet(language: Language, signature: Signature): Snippet {
  const plan = planOf(signature);
  const { file, needs, write } = writers[language];
  return { file, needs: needs(plan), code: write(plan) };
}
