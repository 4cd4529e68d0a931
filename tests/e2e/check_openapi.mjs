// Validates the OpenAPI document on stdin with an independent validator. Prints the result as JSON.
import { Validator } from "@seriousme/openapi-schema-validator";

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const validator = new Validator();
const result = await validator.validate(JSON.parse(Buffer.concat(chunks).toString()));
console.log(JSON.stringify({ ...result, version: validator.version }));
