// GET /v1/settings: every setting in force. Secret values are hidden by the server.
import { api, body } from "./client.ts";
import type { components } from "#contract";

export type Setting = components["schemas"]["Setting"];

export const readSettings = (): Promise<{ data: Setting[] }> => body(api.GET("/v1/settings"));
