import { useThrottledCallback } from "@mantine/hooks";
import { useRef } from "react";

/**
 * Reloads after events of the stream, once in `pauseMs` however many arrive, and never two requests
 * at a time. What happens during a request leads to another one.
 */
export function useRefetchSoon(refetch: () => Promise<unknown>, pauseMs = 1_000): () => void {
  const state = useRef({ busy: false, again: false });
  return useThrottledCallback(() => {
    const { current } = state;
    current.again = true;
    if (current.busy) return;
    current.busy = true;
    void (async () => {
      while (current.again) {
        current.again = false;
        await refetch();
      }
      current.busy = false;
    })();
  }, pauseMs);
}
