import { fileURLToPath } from "node:url";

import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

// `npm run dev` serves the pages from here and passes API requests on to a running server. A key in
// POSTRIDER_KEY is added to them and takes the place of a session.
const server = process.env["POSTRIDER_SERVER"] ?? "http://127.0.0.1:8080";
const key = process.env["POSTRIDER_KEY"];
const proxy = { target: server, headers: key ? { Authorization: `Bearer ${key}` } : undefined };

const keyAsSession: Plugin = {
  name: "key-as-session",
  apply: "serve",
  configureServer({ middlewares }) {
    if (!key) return;
    middlewares.use("/v1/sessions", (_request, response) => {
      const session = {
        scope: "admin",
        role: null,
        tenant_id: null,
        key_name: "development",
        expires_at: "2999-01-01T00:00:00.000Z",
        csrf_token: "none",
        server: { version: "development" },
        branding: { title: "Postrider", logo_url: null, primary_color: null },
      };
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify(session));
    });
  },
};

export default defineConfig({
  plugins: [react(), keyAsSession],
  html: { cspNonce: "__CSP_NONCE__" }, // The server replaces it in every response.
  resolve: { alias: { "~": fileURLToPath(new URL("./src", import.meta.url)) } },
  server: { proxy: { "/v1": proxy, "/openapi.json": proxy } },
  build: {
    target: "es2022",
    manifest: true,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // The content security policy forbids data: scripts and styles.
    sourcemap: false,
  },
  test: {
    environment: "node",
    include: ["src/**/*.test.{ts,tsx}"],
  },
});
