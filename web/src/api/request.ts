// For endpoints that the generated types do not have yet.
import { api } from "./client.ts";

interface Parts {
  query?: Record<string, unknown>;
  body?: unknown;
}

const untyped = api as unknown as {
  request: (method: string, path: string, init: object) => Promise<{ data?: unknown }>;
};

/** Calls the API as `api` does: problems are thrown. */
export async function request<Answer>(method: string, path: string, parts: Parts = {}) {
  const { data } = await untyped.request(method, path, {
    params: { query: parts.query },
    body: parts.body,
  });
  return data as Answer;
}
