import { Badge } from "@mantine/core";

import { formatWord } from "~/lib/format.ts";

type Tone = "good" | "bad" | "wait" | "plain";

const tones: Record<string, Tone> = {
  succeeded: "good",
  closed: "good",
  active: "good",
  completed: "good",
  resolved: "good",
  sent: "good",
  dead_letter: "bad",
  failed: "bad",
  open: "bad",
  disabled: "bad",
  critical: "bad",
  suspended: "bad",
  pending: "wait",
  in_flight: "wait",
  retrying: "wait",
  half_open: "wait",
  paused: "wait",
  warning: "wait",
  running: "wait",
  waiting: "wait",
  scheduled: "wait",
};

const colors: Record<Tone, string> = { good: "green", bad: "red", wait: "orange", plain: "gray" };

/** A state as a coloured word. The word alone says it, too. */
export function Status({ value, label }: { value: string; label?: string }) {
  const tone = tones[value] ?? "plain";
  return (
    <Badge
      color={colors[tone]}
      variant="light"
      tt="none"
      styles={{ label: { color: `var(--status-${tone})` } }}
      data-status={value}
    >
      {label ?? formatWord(value)}
    </Badge>
  );
}
