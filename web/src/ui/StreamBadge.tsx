import { Badge } from "@mantine/core";

import type { StreamState } from "~/api/stream.ts";

const words: Record<StreamState, string> = {
  connecting: "Connecting",
  live: "Live",
  interrupted: "Reconnecting",
};

/** Whether the page moves by itself. */
export function StreamBadge({ state }: { state: StreamState }) {
  const tone = state === "live" ? "good" : "wait";
  return (
    <Badge
      variant="dot"
      color={state === "live" ? "green" : "orange"}
      tt="none"
      role="status"
      w={124} // Of the longest word: what is beside it does not move.
      data-stream={state}
      styles={{ label: { color: `var(--status-${tone})`, textAlign: "left" } }}
    >
      {words[state]}
    </Badge>
  );
}
