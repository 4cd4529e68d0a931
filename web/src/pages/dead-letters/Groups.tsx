import { Group, SegmentedControl, SimpleGrid, Skeleton, Text, UnstyledButton } from "@mantine/core";

import type { DeadLetterGroup, DeadLetterGroups, GroupBy } from "~/api/deadLetterGroups.ts";
import { formatCount, formatWord } from "~/lib/format.ts";
import { Problem } from "~/ui/Problem.tsx";
import { Time } from "~/ui/Time.tsx";

import { ageWords, groupChoices } from "./deadLetterFilters.ts";

function nameOf(by: GroupBy, group: DeadLetterGroup): string {
  if (group.key === null) return "Unknown";
  switch (by) {
    case "webhook":
      return group.webhook_name ?? group.webhook_url ?? group.key;
    case "age":
      return ageWords(group.key);
    case "event_type":
      return group.key;
    default:
      return formatWord(group.key);
  }
}

interface CardProperties {
  by: GroupBy;
  group: DeadLetterGroup;
  selected: boolean;
  select: () => void;
}

function GroupCard({ by, group, selected, select }: CardProperties) {
  const name = nameOf(by, group);
  return (
    <UnstyledButton
      className="group-card"
      aria-pressed={selected}
      disabled={group.key === null}
      onClick={select}
      data-group={group.key}
    >
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text fw={600} size="sm" className="truncate" title={group.webhook_url ?? name}>
          {name}
        </Text>
        <Text fw={700}>{formatCount(group.count)}</Text>
      </Group>
      <Text size="xs" c="dimmed" className="truncate">
        oldest <Time at={group.oldest_at} />, newest <Time at={group.newest_at} />
      </Text>
    </UnstyledButton>
  );
}

interface Properties {
  by: GroupBy;
  groups: DeadLetterGroups | undefined;
  error: unknown;
  selected: string | undefined;
  changeBy: (by: string) => void;
  select: (key: string | null) => void;
}

/** How many dead letters have something in common. Selecting a group narrows the list. */
export function Groups({ by, groups, error, selected, changeBy, select }: Properties) {
  const hidden = groups ? groups.groups - groups.data.length : 0;
  return (
    <section aria-label="Groups of dead letters">
      <Group gap="sm" mb="sm">
        <Text size="sm" id="group-by">
          Group by
        </Text>
        <SegmentedControl
          size="xs"
          aria-labelledby="group-by"
          className="wide-control"
          value={by}
          onChange={changeBy}
          data={groupChoices}
        />
      </Group>
      {error !== null && <Problem error={error} />}
      <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing="sm" mih={62} mb="md">
        {!groups && error === null && <Skeleton height={62} />}
        {groups?.data.map((group) => (
          <GroupCard
            key={group.key}
            by={by}
            group={group}
            selected={selected === group.key}
            select={() => select(selected === group.key ? null : group.key)}
          />
        ))}
      </SimpleGrid>
      {(hidden > 0 || groups?.more) && (
        <Text size="xs" c="dimmed" mb="xs">
          {hidden > 0 && `And ${formatCount(hidden)} smaller groups.`}
          {groups?.more && " There are more dead letters than were counted."}
        </Text>
      )}
    </section>
  );
}
