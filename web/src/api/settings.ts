// GET /v1/settings: every setting in force. Secret values are hidden by the server.
import type { Client } from "openapi-fetch";

import { api, body } from "./client.ts";

export interface Setting {
  name: string;
  value: unknown;
  origin: "default" | "profile" | "file" | "environment" | "flag";
  detail: string | null;
}

interface SettingsPaths {
  "/v1/settings": {
    get: { responses: { 200: { content: { "application/json": { data: Setting[] } } } } };
  };
}

const settingsApi = api as unknown as Client<SettingsPaths>;

export const readSettings = () => body(settingsApi.GET("/v1/settings"));
