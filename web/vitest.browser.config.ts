import { fileURLToPath } from "node:url";

import { defineConfig } from "vitest/config";

const slowness = Number(process.env["POSTRIDER_TEST_SLOWNESS"] ?? "1");

export default defineConfig({
  resolve: { alias: { "~": fileURLToPath(new URL("./src", import.meta.url)) } },
  test: {
    include: ["tests/**/*.test.ts"],
    environment: "node",
    retry: 1, // On a busy machine, a browser can miss a deadline.
    testTimeout: 60_000 * slowness,
    hookTimeout: 60_000 * slowness,
    maxWorkers: 2,
    minWorkers: 1,
  },
});
