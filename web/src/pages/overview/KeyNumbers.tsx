import { SimpleGrid } from "@mantine/core";

import type { StatsWithNow } from "~/api/stats.ts";
import type { Alert, Page } from "~/api/types.ts";
import { formatCompact, formatDuration, formatShare } from "~/lib/format.ts";
import { formatRate, type Range, rangeLabels } from "~/lib/stats.ts";
import { Stat } from "~/ui/Stat.tsx";

import { rateTone } from "./rateTone.ts";

interface Properties {
  stats: StatsWithNow | undefined;
  range: Range;
  alerts: Page<Alert> | undefined;
}

function alertWords(alerts: Alert[]): string {
  const critical = alerts.filter((alert) => alert.severity === "critical").length;
  if (alerts.length === 0) return "all is well";
  return critical > 0 ? `${critical} critical` : "none critical";
}

/** The first row covers the time range, the second one is this moment. */
export function KeyNumbers({ stats, range, alerts }: Properties) {
  const total = stats?.total;
  const now = stats?.now;
  const moment = (value: number | undefined) => {
    if (!stats) return undefined;
    return value === undefined ? "–" : formatCompact(value);
  };
  const latency = total?.duration_ms;
  const toneIf = (value: number | undefined) => (value ? ("bad" as const) : undefined);
  return (
    <SimpleGrid cols={{ base: 2, md: 5 }} spacing="sm" mb="md">
      <Stat
        label="Events"
        value={total && formatCompact(total.published)}
        hint={stats && formatRate(stats.total.published, stats)}
      />
      <Stat
        label="Attempts"
        value={total && formatCompact(total.attempts)}
        hint={stats && formatRate(stats.total.attempts, stats)}
      />
      <Stat
        label="Delivery success"
        value={total && formatShare(total.delivery_success_rate)}
        tone={rateTone(total?.delivery_success_rate ?? null)}
        hint={total && `${formatShare(total.success_rate)} of attempts`}
      />
      <Stat
        label="Response time p50"
        value={total && formatDuration(latency?.p50)}
        hint={total && `p95 ${formatDuration(latency?.p95)} · p99 ${formatDuration(latency?.p99)}`}
      />
      <Stat
        label="New dead letters"
        value={total && formatCompact(total.dead_letters)}
        hint={rangeLabels[range]}
      />
      <Stat
        label="Waiting"
        href="/deliveries?status=pending,retrying"
        value={moment(now?.waiting)}
        hint="now"
      />
      <Stat label="In flight" value={moment(now?.in_flight)} hint="now" />
      <Stat
        label="Dead letters"
        href="/dead-letters"
        value={moment(now?.dead_letters)}
        tone={toneIf(now?.dead_letters)}
        hint="now"
      />
      <Stat
        label="Open circuits"
        href="/webhooks?circuit=open"
        value={moment(now?.open_circuits)}
        tone={toneIf(now?.open_circuits)}
        hint="now"
      />
      <Stat
        label="Active alerts"
        href="/alerts"
        value={
          alerts && (alerts.next_cursor ? `${alerts.data.length}+` : String(alerts.data.length))
        }
        tone={toneIf(alerts?.data.length)}
        hint={alerts && alertWords(alerts.data)}
      />
    </SimpleGrid>
  );
}
