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
      data-stream={state}
      styles={{ label: { color: `var(--status-${tone})` } }}
    >
      {words[state]}
    </Badge>
  );
}
