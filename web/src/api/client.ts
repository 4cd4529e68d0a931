// Calls the API with the cookie of the browser's session. Requests that change something carry the
// CSRF token, which GET /v1/sessions gave; it is kept in memory only.
import createClient, { type Middleware } from "openapi-fetch";

import { ApiProblem } from "./problem.ts";
import type { paths } from "#contract";
import type { ProblemBody } from "./types.ts";

let csrfToken = "";
let handlers = { onEnded: () => {}, onChanged: () => {} };

export function setCsrfToken(token: string): void {
  csrfToken = token;
}

/** Called when the server says that the session has ended, or that the cookie has another one. */
export function setSessionHandlers(to: typeof handlers): void {
  handlers = to;
}

const session: Middleware = {
  onRequest({ request }) {
    if (request.method !== "GET") request.headers.set("X-CSRF-Token", csrfToken);
    return request;
  },
  async onResponse({ response }) {
    if (response.ok) return;
    const isProblem = response.headers.get("content-type")?.includes("json") ?? false;
    const body = isProblem ? ((await response.json()) as Partial<ProblemBody>) : undefined;
    if (response.status === 401) handlers.onEnded();
    if (body?.code === "csrf_token_required") handlers.onChanged();
    throw ApiProblem.of(response, body);
  },
  onError() {
    return ApiProblem.unreachable();
  },
};

export const api = createClient<paths>({ baseUrl: "/", credentials: "same-origin" });
api.use(session);

/** The body of an answer. Problems have been thrown before. */
export async function body<Data>(call: Promise<{ data?: Data }>): Promise<Data> {
  const { data } = await call;
  return data as Data;
}
