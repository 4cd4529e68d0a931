import { Alert } from "@mantine/core";
import type { ReactNode } from "react";

export type Tone = "good" | "bad" | "wait" | "plain";
const colors: Record<Tone, string> = { good: "green", bad: "red", wait: "orange", plain: "gray" };

interface Properties {
  tone: Tone;
  title: string;
  children: ReactNode;
  role?: "status" | "alert" | "note";
}

/** A message on the page: a result, a warning, a state that explains the rest. */
export function Notice({ tone, title, children, role = "note" }: Properties) {
  return (
    <Alert
      color={colors[tone]}
      variant="light"
      title={title}
      role={role}
      styles={{ label: { color: `var(--status-${tone})` } }}
    >
      {children}
    </Alert>
  );
}
