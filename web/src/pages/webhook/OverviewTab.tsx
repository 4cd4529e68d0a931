import { Group, Paper, SimpleGrid, Text, Title } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";

import { readStats } from "~/api/stats.ts";
import type { Webhook, WebhookHealth } from "~/api/types.ts";
import { formatCompact, formatDuration, formatShare, formatWord } from "~/lib/format.ts";
import { failureShares, parseRange, rangeLabels } from "~/lib/stats.ts";
import { rateTone } from "~/pages/overview/rateTone.ts";
import { BarList } from "~/ui/BarList.tsx";
import { FactList } from "~/ui/FactList.tsx";
import { useFilters } from "~/ui/filters.ts";
import { Problem } from "~/ui/Problem.tsx";
import { RangePicker } from "~/ui/RangePicker.tsx";
import { Stat } from "~/ui/Stat.tsx";
import { StatsCharts } from "~/ui/StatsCharts.tsx";
import { Time } from "~/ui/Time.tsx";

import { useHealth, webhookKey } from "./queries.ts";

function Numbers({ health, id }: { health: WebhookHealth | undefined; id: string }) {
  const week = health?.last_7_days;
  const waiting = health && health.deliveries.pending + health.deliveries.retrying;
  return (
    <SimpleGrid cols={{ base: 2, md: 5 }} spacing="sm" mb="md">
      <Stat
        label="Success, last 7 days"
        value={week && formatShare(week.delivery_success_rate)}
        tone={rateTone(week?.delivery_success_rate ?? null)}
        hint={week && `${formatCompact(week.deliveries_succeeded)} delivered`}
      />
      <Stat
        label="Response time p50"
        value={week && formatDuration(week.duration_ms?.p50)}
        hint={
          week &&
          `p95 ${formatDuration(week.duration_ms?.p95)} · p99 ${formatDuration(week.duration_ms?.p99)}`
        }
      />
      <Stat
        label="Waiting"
        href={`/deliveries?webhook_id=${id}&status=pending,retrying`}
        value={waiting !== undefined ? formatCompact(waiting) : undefined}
        hint={health && `${formatCompact(health.deliveries.retrying)} for a retry`}
      />
      <Stat
        label="In flight"
        value={health && String(health.in_flight)}
        hint={health && `at most ${health.in_flight_limit}`}
      />
      <Stat
        label="Dead letters"
        href={`/dead-letters?webhook_id=${id}`}
        value={health && formatCompact(health.deliveries.dead_letter)}
        tone={health?.deliveries.dead_letter ? "bad" : undefined}
        hint="now"
      />
    </SimpleGrid>
  );
}

function Activity({ hook, health }: { hook: Webhook; health: WebhookHealth | undefined }) {
  const blocked = health?.blocked;
  return (
    <Paper withBorder p="md">
      <Title order={2} size="h5" mb="sm">
        Activity
      </Title>
      <FactList
        items={[
          ["Last success", <Time key="s" at={hook.last_success_at} />],
          ["Last failure", <Time key="f" at={hook.last_failure_at} />],
          [
            "Held back by",
            blocked ? (
              <span key="b">
                {formatWord(blocked.reason)}
                {blocked.until && (
                  <>
                    {", ends "}
                    <Time at={blocked.until} />
                  </>
                )}
              </span>
            ) : (
              "nothing"
            ),
          ],
        ]}
      />
    </Paper>
  );
}

export function OverviewTab({ hook }: { hook: Webhook }) {
  const [filters, change] = useFilters(["range"]);
  const range = parseRange(filters.range);
  const health = useHealth(hook.id);
  const stats = useQuery({
    queryKey: [...webhookKey(hook.id), "stats", range],
    queryFn: () => readStats(range, { webhook_id: hook.id }),
    placeholderData: keepPreviousData,
  });
  const failures = stats.data && failureShares(stats.data.total.failures);
  const error = health.error ?? stats.error;
  return (
    <>
      {error && <Problem error={error} retry={() => void stats.refetch()} />}
      <Numbers health={health.data} id={hook.id} />
      <Group justify="flex-end" mb="sm">
        <RangePicker value={range} onChange={(next) => change({ range: next }, true)} />
      </Group>
      <StatsCharts stats={stats.data} events={false} />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="sm">
        <Paper withBorder p="md">
          <Title order={2} size="h5" mb="sm">
            Errors, {rangeLabels[range]}
          </Title>
          {failures?.length === 0 && (
            <Text size="sm" c="dimmed">
              No attempt has failed.
            </Text>
          )}
          {failures && failures.length > 0 && (
            <BarList label="Failed attempts by category" items={failures} />
          )}
        </Paper>
        <Activity hook={hook} health={health.data} />
      </SimpleGrid>
    </>
  );
}
