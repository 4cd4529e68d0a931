// For requests that the generated types do not describe.
import { api, body } from "./client.ts";

type Method = "get" | "post" | "put" | "patch" | "delete";

export function call<Answer>(method: Method, path: string, content?: unknown): Promise<Answer> {
  const init = content === undefined ? {} : { body: content };
  return body(api.request(method, path as never, init as never)) as Promise<Answer>;
}
