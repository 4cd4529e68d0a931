// Asks before a visitor leaves a form with changes that are not saved.
import { useEffect } from "react";
import { type AroundNavHandler, useLocation } from "wouter";

import { useConfirm } from "./confirm.tsx";

interface Guard {
  path: string; // Of the form.
  leaveIfAgreed: (leave: () => void) => void;
}

let guard: Guard | null = null; // Null: nothing would be lost.

/** For the router: every navigation of the pages goes through it. */
export const guardedNavigation: AroundNavHandler = (navigate, to, options) => {
  if (guard) guard.leaveIfAgreed(() => navigate(to, options));
  else navigate(to, options);
};

/** After saving: the next navigation does not ask. */
export function allowLeaving(): void {
  guard = null;
}

// The address has changed already when the visitor goes back. The router must not see it before
// they agree, so this listener is added when the module is loaded: before the router's.
window.addEventListener("popstate", (event) => {
  if (!guard) return;
  const target = window.location.pathname + window.location.search;
  event.stopImmediatePropagation();
  window.history.pushState(null, "", guard.path);
  guard.leaveIfAgreed(() => window.history.pushState(null, "", target));
});

export function useLeaveGuard(isChanged: boolean): void {
  const ask = useConfirm();
  const [path] = useLocation();
  useEffect(() => {
    if (!isChanged) return;
    const question = {
      title: "Leave without saving?",
      consequences: "What you changed in this form is lost.",
      action: "Leave",
    };
    const leaveIfAgreed = (leave: () => void) => {
      void ask(question).then((agreed) => {
        if (!agreed) return;
        guard = null;
        leave();
      });
    };
    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    guard = { path, leaveIfAgreed };
    window.addEventListener("beforeunload", onUnload);
    return () => {
      guard = null;
      window.removeEventListener("beforeunload", onUnload);
    };
  }, [isChanged, ask, path]);
}
