// Runs the snippets of the Verify tab in their own languages.
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

import { type Language, snippet } from "../../src/pages/webhook/snippets/snippets.ts";

const run = promisify(execFile);
const mains = path.resolve("tests/snippets");
const headers = path.resolve("../include");

export interface RecordedRequest {
  headers: Record<string, string>;
  body: Buffer;
}

interface Tool {
  main: string;
  build?: (directory: string) => [program: string, ...arguments_: string[]];
  start: (directory: string) => [program: string, ...arguments_: string[]];
}

const tools: Record<Language, Tool> = {
  node: { main: "main.mjs", start: (at) => ["node", `${at}/main.mjs`] },
  python: { main: "main.py", start: (at) => ["python3", `${at}/main.py`] },
  cpp: {
    main: "main.cpp",
    build: (at) => [
      "g++",
      ...["-std=c++17", "-Wall", "-Werror", `-I${headers}`, `${at}/main.cpp`],
      ...["-o", `${at}/main`, "-lcrypto"],
    ],
    start: (at) => [`${at}/main`],
  },
  go: {
    main: "main.go",
    build: (at) => ["go", "build", "-o", `${at}/main`, `${at}/main.go`, `${at}/verify.go`],
    start: (at) => [`${at}/main`],
  },
  php: { main: "main.php", start: (at) => ["php", `${at}/main.php`] },
  ruby: { main: "main.rb", start: (at) => ["ruby", `${at}/main.rb`] },
  java: {
    main: "Main.java",
    build: (at) => ["javac", "-d", at, `${at}/Main.java`, `${at}/WebhookVerifier.java`],
    start: (at) => ["java", "-XX:TieredStopAtLevel=1", "-cp", at, "Main"],
  },
};

/** Writes a snippet with a main program beside it, and builds it if the language needs that. */
export async function prepare(
  language: Language,
  signature: Parameters<typeof snippet>[1],
  directory: string,
): Promise<void> {
  const { main, build } = tools[language];
  const { file, code } = snippet(language, signature);
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, file), code);
  copyFileSync(path.join(mains, main), path.join(directory, main));
  if (!build) return;
  const [program, ...arguments_] = build(directory);
  await run(program, arguments_);
}

export function writeRequest(directory: string, { headers, body }: RecordedRequest): void {
  mkdirSync(directory, { recursive: true });
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
  writeFileSync(path.join(directory, "headers"), lines.join(""));
  writeFileSync(path.join(directory, "body"), body);
}

/** What the prepared snippet says about each request. */
export async function verdicts(
  language: Language,
  directory: string,
  environment: Record<string, string>,
  requests: string[],
): Promise<boolean[]> {
  const [program, ...arguments_] = tools[language].start(directory);
  const { stdout } = await run(program, [...arguments_, ...requests], {
    env: { ...process.env, ...environment },
  });
  return stdout
    .trim()
    .split("\n")
    .map((line) => line === "true");
}
