// Writes generated/contract.d.ts from the fragments of the OpenAPI document, which the server
// merges in the same way (src/api/openapi/document.cc). A change of the contract that the pages do
// not follow then fails the type check.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";

import openapiTS, { astToString } from "openapi-typescript";

const fragments = new URL("../../src/api/openapi/", import.meta.url);
const target = new URL("../generated/contract.d.ts", import.meta.url);

function merge(document, fragment) {
  for (const [name, value] of Object.entries(fragment)) {
    const isObject = typeof document[name] === "object" && !Array.isArray(document[name]);
    document[name] = isObject ? merge(document[name], value) : value;
  }
  return document;
}

const files = readdirSync(fragments).filter((name) => name.endsWith(".json"));
const document = files
  .map((name) => JSON.parse(readFileSync(new URL(name, fragments), "utf8")))
  .reduce(merge, {});
const text = astToString(await openapiTS(document, { defaultNonNullable: false }));

let before = "";
try {
  before = readFileSync(target, "utf8");
} catch {
  // The first run.
}
if (before !== text) {
  mkdirSync(new URL(".", target), { recursive: true });
  writeFileSync(target, text);
}
