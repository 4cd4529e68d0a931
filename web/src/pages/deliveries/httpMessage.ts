// Requests and responses as text. Pure.
import type { Attempt, DeliveryDetail, SentRequest } from "~/api/types.ts";

export interface HttpMessage {
  start: string; // The first line.
  headers: [string, string][];
  body: string | null;
}

/** The request of an attempt. Its body is left out of the answer if the delivery has the same. */
export function fullRequest(
  attempt: Pick<Attempt, "request">,
  delivery: Pick<DeliveryDetail, "request">,
): SentRequest | null {
  if (!attempt.request) return null;
  return { ...attempt.request, body: attempt.request.body ?? delivery.request?.body };
}

export function requestMessage(request: SentRequest): HttpMessage {
  return {
    start: `${request.method} ${request.url}`,
    headers: Object.entries(request.headers),
    body: request.body ?? null,
  };
}

/** Null if the receiver did not answer. */
export function responseMessage(
  attempt: Pick<Attempt, "http_status" | "response_headers" | "response_sample">,
): HttpMessage | null {
  if (attempt.http_status === null) return null;
  return {
    start: `HTTP ${attempt.http_status}`,
    headers: Object.entries(attempt.response_headers),
    body: attempt.response_sample,
  };
}

export function rawText(message: HttpMessage): string {
  const headers = message.headers.map(([name, value]) => `${name}: ${value}`);
  return [message.start, ...headers, "", message.body ?? ""].join("\n");
}

/** Whether a copy of the request needs values that the server does not keep. */
export const lacksSecrets = (request: SentRequest) =>
  Object.values(request.headers).some((value) => /\[(hidden|not kept)\]/.test(value));
