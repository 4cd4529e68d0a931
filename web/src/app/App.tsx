import { Center, Loader, MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { useMemo } from "react";
import { Router } from "wouter";

import { type Session, SessionProvider } from "~/api/session.tsx";
import { styleNonce } from "~/lib/nonce.ts";
import { ConfirmProvider } from "~/ui/confirm.tsx";
import { guardedNavigation } from "~/ui/leaveGuard.ts";

import { makeQueryClient } from "./queries.ts";
import { Shell } from "./Shell.tsx";
import { SignIn } from "./SignIn.tsx";
import { makeTheme } from "./theme.ts";
import { useSessionState } from "./useSessionState.ts";

/** The pages of one session. What they loaded is forgotten with it. */
function SignedIn({ session, onSignedOut }: { session: Session; onSignedOut: () => void }) {
  const queries = useMemo(makeQueryClient, []);
  return (
    <QueryClientProvider client={queries}>
      <SessionProvider value={session}>
        <ConfirmProvider>
          <Router aroundNav={guardedNavigation}>
            <Shell onSignedOut={onSignedOut} />
          </Router>
        </ConfirmProvider>
      </SessionProvider>
    </QueryClientProvider>
  );
}

export function App() {
  const { state, open, close } = useSessionState();
  const session = state.kind === "signed-in" ? state.session : null;
  const color = session?.branding.primary_color ?? null;
  const theme = useMemo(() => makeTheme(color), [color]);
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={styleNonce}>
      <Notifications position="bottom-right" />
      {state.kind === "starting" && (
        <Center mih="100vh">
          <Loader role="status" aria-label="Loading" />
        </Center>
      )}
      {state.kind === "signed-out" && <SignIn error={state.error} onSession={open} />}
      {session && <SignedIn key={session.csrf_token} session={session} onSignedOut={close} />}
    </MantineProvider>
  );
}
