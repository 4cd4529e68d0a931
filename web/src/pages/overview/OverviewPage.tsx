import { Group } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";

import { api, body } from "~/api/client.ts";
import { useLiveQueries } from "~/api/live.ts";
import { readStats } from "~/api/stats.ts";
import type { Alert, Page } from "~/api/types.ts";
import { parseRange } from "~/lib/stats.ts";
import { useFilters } from "~/ui/filters.ts";
import { StreamBadge } from "~/ui/StreamBadge.tsx";
import { PageTitle } from "~/ui/PageTitle.tsx";
import { Problem } from "~/ui/Problem.tsx";
import { RangePicker } from "~/ui/RangePicker.tsx";
import { StatsCharts } from "~/ui/StatsCharts.tsx";

import { ActiveAlerts } from "./ActiveAlerts.tsx";
import { FirstSteps } from "./FirstSteps.tsx";
import { KeyNumbers } from "./KeyNumbers.tsx";

import { WorstWebhooks } from "./WorstWebhooks.tsx";

const worstShown = 10;
const alertsShown = 100;
const idleRefetchMs = 60_000; // Time passes, also when nothing happens.

export default function OverviewPage() {
  const [filters, change] = useFilters(["range"]);
  const range = parseRange(filters.range);
  const stats = useQuery({
    queryKey: ["stats", "overview", range],
    queryFn: () => readStats(range, { sort: "worst", limit: worstShown }),
    placeholderData: keepPreviousData,
    refetchInterval: idleRefetchMs,
  });
  const alerts = useQuery({
    queryKey: ["alerts", "active"],
    queryFn: () =>
      body(
        api.GET("/v1/alerts", { params: { query: { status: "active", limit: alertsShown } } }),
      ) as Promise<Page<Alert>>,
    refetchInterval: idleRefetchMs,
  });
  const live = useLiveQueries({}, [["stats", "overview"], ["alerts", "active"], ["first-steps"]]);
  return (
    <>
      <PageTitle title="Overview">
        <Group gap="sm">
          <StreamBadge state={live} />
          <RangePicker value={range} onChange={(next) => change({ range: next }, true)} />
        </Group>
      </PageTitle>
      <FirstSteps />
      {stats.error && <Problem error={stats.error} retry={() => void stats.refetch()} />}
      <KeyNumbers stats={stats.data} range={range} alerts={alerts.data} />
      <StatsCharts stats={stats.data} events />
      <WorstWebhooks
        rows={stats.data?.webhooks.data}
        range={range}
        retry={() => void stats.refetch()}
      />
      {/* Last, so that nothing moves when an alert is raised. */}
      <ActiveAlerts alerts={alerts.data?.data} error={alerts.error} />
    </>
  );
}
