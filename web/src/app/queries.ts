import { QueryClient } from "@tanstack/react-query";

import { ApiProblem } from "~/api/problem.ts";

const retriesMax = 3;

/** Answers of the server are final, except that it is overloaded or cannot be reached. */
function shouldRetry(count: number, error: Error): boolean {
  const status = error instanceof ApiProblem ? error.status : -1;
  return count < retriesMax && (status === 0 || status === 429 || status >= 502);
}

export const makeQueryClient = () =>
  new QueryClient({
    defaultOptions: {
      queries: {
        retry: shouldRetry,
        staleTime: 5_000,
        placeholderData: (before: unknown) => before,
      },
      mutations: { retry: false },
    },
  });
