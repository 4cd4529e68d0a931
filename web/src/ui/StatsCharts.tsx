import { Paper, SimpleGrid, Skeleton } from "@mantine/core";
import { useMemo } from "react";

import type { Stats } from "~/api/types.ts";
import { formatCompact, formatDuration } from "~/lib/format.ts";
import { eventChart, latencyChart, outcomeChart } from "~/lib/stats.ts";

import { Chart } from "./Chart.tsx";

const chartHeight = 200;

/** Attempts by outcome, latency and, if wanted, events over the time range. */
export function StatsCharts({ stats, events }: { stats: Stats | undefined; events: boolean }) {
  const data = useMemo(
    () =>
      stats && {
        outcomes: outcomeChart(stats),
        latency: latencyChart(stats),
        events: eventChart(stats),
      },
    [stats],
  );
  if (!data) return <Skeleton height={chartHeight + 90} mb="md" />;
  return (
    <SimpleGrid cols={{ base: 1, lg: events ? 3 : 2 }} spacing="sm" mb="md">
      {events && (
        <Paper withBorder p="sm">
          <Chart title="Events" {...data.events} format={formatCompact} height={chartHeight} />
        </Paper>
      )}
      <Paper withBorder p="sm">
        <Chart
          title="Attempts by outcome"
          {...data.outcomes}
          format={formatCompact}
          height={chartHeight}
          stacked
        />
      </Paper>
      <Paper withBorder p="sm">
        <Chart
          title="Response time"
          {...data.latency}
          format={formatDuration}
          height={chartHeight}
        />
      </Paper>
    </SimpleGrid>
  );
}
