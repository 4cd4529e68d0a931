// The title of the browser's tab: what is shown, the section, and whose dashboard it is.
import { createContext, useContext, useEffect } from "react";

import { plainName } from "~/lib/plainName.ts";

/** The section and the dashboard: `Webhooks · Postrider`. */
export const BaseTitle = createContext("");

/** The list of a section has its name already. Pure. */
export function titleOf(name: string, base: string): string {
  return base === name || base.startsWith(`${name} · `) ? base : `${plainName(name)} · ${base}`;
}

export function useDocumentTitle(name: string): void {
  const base = useContext(BaseTitle);
  useEffect(() => {
    document.title = titleOf(name, base);
  }, [name, base]);
}
