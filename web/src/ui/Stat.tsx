import { Paper, Skeleton, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "wouter";

import "./numbers.css";

interface Properties {
  label: string;
  value: ReactNode; // undefined: still loading.
  hint?: ReactNode; // A second, smaller line.
  href?: string;
  tone?: "good" | "bad" | "wait";
}

/** One number with its name. Keeps its height while it loads and changes. */
export function Stat({ label, value, hint, href, tone }: Properties) {
  return (
    <Paper withBorder px="md" py="sm" role="group" aria-label={label}>
      <Text size="xs" c="dimmed">
        {href ? (
          <Link href={href} className="stat-link">
            {label}
          </Link>
        ) : (
          label
        )}
      </Text>
      <Text component="div" className="stat-value" c={tone ? `var(--status-${tone})` : undefined}>
        {value === undefined ? <Skeleton height={18} width={64} mt={6} /> : value}
      </Text>
      <Text size="xs" c="dimmed" component="div" className="truncate stat-hint">
        {hint}
      </Text>
    </Paper>
  );
}
