// A dialog that creates something, opened by `?new=1`, so that other pages can lead to it.
import { useLocation, useSearch } from "wouter";

import { changedSearch } from "./filters.ts";

export function useNewDialog(): { opened: boolean; open: () => void; close: () => void } {
  const search = useSearch();
  const [path, navigate] = useLocation();
  const parameters = new URLSearchParams(search);
  const set = (value: string | null) => {
    const next = changedSearch(search, { new: value, cursor: parameters.get("cursor") });
    navigate(next ? `${path}?${next}` : path, { replace: true });
  };
  return { opened: parameters.get("new") === "1", open: () => set("1"), close: () => set(null) };
}
