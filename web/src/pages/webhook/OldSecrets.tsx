import { List, Text } from "@mantine/core";

import { useNow } from "~/ui/Time.tsx";

import { formatCountdown } from "./countdown.ts";
import type { Rotated } from "./RotateForm.tsx";

/** The old secrets that still sign, each with a countdown. */
export function OldSecrets({ old }: { old: Rotated["old_secrets"] }) {
  const now = useNow();
  const alive = old.filter((each) => Date.parse(each.ends_at) > now);
  if (alive.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        No old secret is in use.
      </Text>
    );
  }
  return (
    <div>
      <Text size="sm" fw={600}>
        Old secrets that still sign
      </Text>
      <List size="sm" aria-label="Old secrets">
        {alive.map((each) => (
          <List.Item key={each.ends_at}>
            Ends in{" "}
            <span className="numbers" role="timer">
              {formatCountdown(Date.parse(each.ends_at) - now)}
            </span>
            {each.public_key && <span className="mono"> {each.public_key}</span>}
          </List.Item>
        ))}
      </List>
    </div>
  );
}
