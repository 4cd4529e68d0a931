import { Group, Progress, Text } from "@mantine/core";

import type { Operation } from "~/api/types.ts";
import { formatCount } from "~/lib/format.ts";
import { Time } from "~/ui/Time.tsx";

import { isActive, kindWords, outcomesOf, progressOf } from "./operationWords.ts";

/** A bar with its words. Keeps its height from the start to the end. */
export function OperationProgress({ operation }: { operation: Operation }) {
  const { words, share } = progressOf(operation);
  const percent = share === null ? 0 : Math.floor(share * 100);
  const active = isActive(operation);
  return (
    <div>
      <Progress
        value={share === null ? 100 : percent}
        striped={share === null}
        animated={operation.status === "running"}
        color={operation.status === "failed" ? "red" : undefined}
        aria-label={`Progress of the ${kindWords(operation.kind).toLowerCase()}`}
        size="sm"
      />
      <Group gap="xs" justify="space-between" mt={2} wrap="nowrap">
        <Text size="xs" c="dimmed" className="truncate">
          {words}
        </Text>
        <Text size="xs" c="dimmed" className="truncate">
          {operation.status === "scheduled" && operation.start_at && (
            <>
              starts <Time at={operation.start_at} />
            </>
          )}
          {active && operation.status !== "scheduled" && operation.eta && (
            <>
              ends <Time at={operation.eta} />
            </>
          )}
        </Text>
      </Group>
    </div>
  );
}

/** The numbers of an operation: what became of the deliveries. */
export function Outcomes({ operation }: { operation: Operation }) {
  return (
    <Group component="dl" gap="lg" mx={0} mb={0} mt="xs">
      {outcomesOf(operation).map(({ name, count, tone }) => (
        <div key={name} data-outcome={name}>
          <Text component="dt" size="xs" c="dimmed">
            {name}
          </Text>
          <Text component="dd" m={0} fw={600} c={count > 0 ? `var(--status-${tone})` : "dimmed"}>
            {formatCount(count)}
          </Text>
        </div>
      ))}
    </Group>
  );
}
