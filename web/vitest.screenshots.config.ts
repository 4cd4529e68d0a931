import { mergeConfig } from "vitest/config";

import browser from "./vitest.browser.config.ts";

// `npm run screenshots`: no test of the suite.
export default mergeConfig(
  { ...browser, test: { ...browser.test, include: [] } },
  { test: { include: ["scripts/screenshots.ts"], testTimeout: 300_000 } },
);
