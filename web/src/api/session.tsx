// Who is signed in. The key or token is exchanged for an HttpOnly cookie; scripts never see it.
import { createContext, useContext } from "react";

import { setCsrfToken } from "./client.ts";
import { ApiProblem } from "./problem.ts";
import type { components } from "#contract";
import type { ProblemBody } from "./types.ts";

export type Session = components["schemas"]["Session"];

async function exchange(method: string, credentials?: Record<string, string>, csrf?: string) {
  const response = await fetch("/v1/sessions", {
    method,
    credentials: "same-origin",
    headers: {
      ...(credentials ? { "Content-Type": "application/json" } : {}),
      ...(csrf ? { "X-CSRF-Token": csrf } : {}),
    },
    body: credentials ? JSON.stringify(credentials) : undefined,
  }).catch(() => {
    throw ApiProblem.unreachable();
  });
  if (response.status === 204) return null;
  const isJson = response.headers.get("content-type")?.includes("json") ?? false;
  const answer: unknown = isJson ? await response.json() : undefined;
  if (!response.ok) throw ApiProblem.of(response, answer as Partial<ProblemBody> | undefined);
  return answer as Session;
}

function opened(session: Session | null): Session | null {
  setCsrfToken(session?.csrf_token ?? "");
  return session;
}

/** The session of this browser, or null if nobody is signed in. */
export async function readSession(): Promise<Session | null> {
  try {
    return opened(await exchange("GET"));
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 401) return null;
    throw error;
  }
}

export async function signIn(credentials: { key: string } | { token: string }) {
  return opened(await exchange("POST", credentials));
}

export async function signOut(session: Session): Promise<void> {
  await exchange("DELETE", undefined, session.csrf_token);
  opened(null);
}

/**
 * The token of a one-time link, from the fragment of the address. Browsers do not send fragments,
 * so it reaches no log. It is removed from the address and the history at once.
 */
export function takeLinkToken(location: Location, history: History): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null) return null;
  history.replaceState(null, "", location.pathname + location.search);
  return token;
}

const SessionContext = createContext<Session | null>(null);
export const SessionProvider = SessionContext.Provider;

/** Only for pages: they are shown to people who are signed in. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error("There is no session.");
  return session;
}

/** What the visitor may do. The server decides; the pages only leave out what would be refused. */
export interface Rights {
  operator: boolean; // Sees all tenants.
  read: boolean; // False for keys that only publish.
  admin: boolean; // May change things.
  publish: boolean;
}

export function rightsOf(session: Session): Rights {
  const tenant = session.scope === "tenant";
  const admin = session.scope === "admin" || (tenant && session.role === "admin");
  const publishOnly = session.scope === "publish";
  return { operator: !tenant, read: !publishOnly, admin, publish: admin || publishOnly };
}

export function useRights(): Rights {
  return rightsOf(useSession());
}
