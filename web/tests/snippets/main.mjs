// Each argument is a directory with a recorded request: `headers` and `body`. Prints true or false.
import { readFileSync } from "node:fs";

import { verify } from "./verify.mjs";

for (const directory of process.argv.slice(2)) {
  const lines = readFileSync(`${directory}/headers`, "utf8").trimEnd().split("\n");
  const headers = Object.fromEntries(lines.map((line) => line.split(/: (.*)/s, 2)));
  console.log(String(verify(headers, readFileSync(`${directory}/body`))));
}
