import { expect, test } from "vitest";

import type { Session } from "~/api/session.tsx";

import { afterReading, type SessionState } from "./useSessionState.ts";

const session = { csrf_token: "a", expires_at: "2026-01-01T00:00:00.000Z" } as Session;
const signedIn: SessionState = { kind: "signed-in", session };

test("a session that is gone ends the page with the reason", () => {
  expect(afterReading(signedIn, null)).toMatchObject({
    kind: "signed-out",
    error: { code: "session_ended" },
  });
});

test("the reason for being signed out is kept", () => {
  const out: SessionState = { kind: "signed-out", error: "used link" };
  expect(afterReading(out, null)).toBe(out);
  expect(afterReading(out, session)).toEqual(signedIn);
});

test("the same session changes nothing, another replaces it", () => {
  expect(afterReading(signedIn, { ...session })).toBe(signedIn);
  const other = { ...session, csrf_token: "b" };
  expect(afterReading(signedIn, other)).toEqual({ kind: "signed-in", session: other });
});
