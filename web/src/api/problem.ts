import type { ProblemBody } from "./types.ts";

/** An error that the server explained, or a connection that failed (status 0). */
export class ApiProblem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly title: string,
    readonly detail: string,
    readonly fields: { field: string; message: string }[] = [],
    readonly requestId: string | null = null,
  ) {
    super(detail || title);
    this.name = "ApiProblem";
  }

  static unreachable(): ApiProblem {
    return new ApiProblem(
      0,
      "unreachable",
      "The server cannot be reached",
      "Check the network and whether the server is running. The page tries again by itself.",
    );
  }

  static of(response: Response, body: Partial<ProblemBody> | undefined): ApiProblem {
    return new ApiProblem(
      response.status,
      body?.code ?? "unknown",
      body?.title ?? `The server answered ${response.status}`,
      body?.detail ?? "",
      body?.errors ?? [],
      response.headers.get("x-request-id"),
    );
  }
}

export const isNotFound = (error: unknown): boolean =>
  error instanceof ApiProblem && error.status === 404;

/** What is wrong with each field, as forms show it. */
export function fieldMessages(error: unknown): Record<string, string> {
  const messages: Record<string, string> = {};
  if (error instanceof ApiProblem) {
    for (const { field, message } of error.fields) {
      const before = messages[field];
      messages[field] = before ? `${before} ${message}` : message;
    }
  }
  return messages;
}
