import { Group, Stack, Text } from "@mantine/core";

import { formatCount, formatShare, formatWord } from "~/lib/format.ts";
import type { Share } from "~/lib/stats.ts";

import "./numbers.css";

/** Names with counts and bars, most frequent first. */
export function BarList({ label, items }: { label: string; items: Share[] }) {
  return (
    <Stack component="ul" gap={10} aria-label={label} className="bar-list">
      {items.map(({ name, count, share }) => (
        <li key={name}>
          <Group justify="space-between" wrap="nowrap" gap="xs">
            <Text size="sm" className="truncate">
              {formatWord(name)}
            </Text>
            <Text size="sm" c="dimmed" className="numbers">
              {formatCount(count)} · {formatShare(share)}
            </Text>
          </Group>
          <svg width="100%" height="6" aria-hidden className="bar">
            <rect width="100%" height="6" rx="3" className="bar-ground" />
            <rect width={`${Math.max(share * 100, 1)}%`} height="6" rx="3" className="bar-part" />
          </svg>
        </li>
      ))}
    </Stack>
  );
}
