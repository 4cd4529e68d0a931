// Who is signed in in this browser, and why nobody is.
import { useCallback, useEffect, useMemo, useRef, useState } from "react";

import { setSessionHandlers } from "~/api/client.ts";
import { ApiProblem } from "~/api/problem.ts";
import { readSession, type Session, signIn, takeLinkToken } from "~/api/session.tsx";
import { openTabs } from "~/api/sessionTabs.ts";

export type SessionState =
  | { kind: "starting" }
  | { kind: "signed-out"; error: unknown }
  | { kind: "signed-in"; session: Session };

const ended = new ApiProblem(
  401,
  "session_ended",
  "The session has ended",
  "It has expired, or somebody ended it. Sign in again to go on where you were.",
);
const timerMaxMs = 2_147_483_647;

/** A one-time link wins over a session that this browser may still have. */
async function start(): Promise<SessionState> {
  const token = takeLinkToken(window.location, window.history);
  try {
    const session = token === null ? await readSession() : await signIn({ token });
    return session ? { kind: "signed-in", session } : { kind: "signed-out", error: null };
  } catch (error) {
    return { kind: "signed-out", error };
  }
}

/** What a fresh look at the session means for a page that showed `before`. */
export function afterReading(before: SessionState, session: Session | null): SessionState {
  if (!session) {
    return before.kind === "signed-in" ? { kind: "signed-out", error: ended } : before;
  }
  const isSame =
    before.kind === "signed-in" &&
    before.session.csrf_token === session.csrf_token &&
    before.session.expires_at === session.expires_at;
  return isSame ? before : { kind: "signed-in", session };
}

export function useSessionState() {
  const [state, setState] = useState<SessionState>({ kind: "starting" });
  const tell = useRef<() => void>(() => undefined);

  const read = useCallback(async () => {
    // A server that cannot be reached is no reason to sign anybody out.
    const found = await readSession().catch(() => undefined);
    if (found !== undefined) setState((before) => afterReading(before, found));
  }, []);
  const open = useCallback((session: Session) => {
    setState({ kind: "signed-in", session });
    tell.current();
  }, []);
  const close = useCallback(() => {
    setState({ kind: "signed-out", error: null });
    tell.current();
  }, []);

  useEffect(() => {
    const tabs = openTabs(() => void read());
    tell.current = tabs.tell;
    const begin = async () => {
      const isLink = window.location.hash.startsWith("#token=");
      setState(await start());
      if (isLink) tabs.tell();
    };
    // A link that is opened in this tab changes the fragment only and does not load the page.
    const onHash = () => {
      if (window.location.hash.startsWith("#token=")) void begin();
    };
    void begin();
    window.addEventListener("hashchange", onHash);
    setSessionHandlers({
      onEnded: () => setState((before) => afterReading(before, null)),
      onChanged: () => void read(),
    });
    return () => {
      window.removeEventListener("hashchange", onHash);
      tabs.close();
    };
  }, [read]);

  const expires = state.kind === "signed-in" ? state.session.expires_at : null;
  useEffect(() => {
    if (!expires) return;
    const wait = Math.min(Math.max(Date.parse(expires) - Date.now() + 500, 1_000), timerMaxMs);
    const timer = window.setTimeout(() => void read(), wait);
    return () => window.clearTimeout(timer);
  }, [expires, read]);

  return useMemo(() => ({ state, open, close }), [state, open, close]);
}
