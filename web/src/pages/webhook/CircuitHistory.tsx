import { Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { circuitHistory, type OpenPeriod } from "~/api/circuitHistory.ts";
import { formatDuration } from "~/lib/format.ts";
import { type Column, DataTable } from "~/ui/DataTable.tsx";
import { Empty } from "~/ui/Empty.tsx";
import { Time, useNow } from "~/ui/Time.tsx";

import { webhookKey } from "./queries.ts";

const shown = 50;

const reasons: Record<string, string> = {
  failures: "The receiver failed",
  forced: "Forced by hand",
};

/** How long the period lasted. An open one grows with the clock. */
function Lasted({ period }: { period: OpenPeriod }) {
  const now = useNow();
  const end = period.ended_at === null ? now : Date.parse(period.ended_at);
  return <>{formatDuration(Math.max(0, end - Date.parse(period.opened_at)))}</>;
}

const columns: Column<OpenPeriod>[] = [
  {
    id: "opened",
    header: "Opened",
    cell: (period) => <Time at={period.opened_at} exact />,
    value: (period) => period.opened_at,
  },
  {
    id: "ended",
    header: "Ended",
    cell: (period) => (period.ended_at ? <Time at={period.ended_at} exact /> : "still open"),
    value: (period) => period.ended_at,
  },
  {
    id: "lasted",
    header: "Lasted",
    cell: (period) => <Lasted period={period} />,
    value: (period) =>
      period.ended_at ? Date.parse(period.ended_at) - Date.parse(period.opened_at) : null,
  },
  {
    id: "reason",
    header: "Reason",
    cell: (period) => reasons[period.reason] ?? period.reason,
    value: (period) => period.reason,
  },
];

export function CircuitHistory({ id }: { id: string }) {
  const list = useQuery({
    queryKey: [...webhookKey(id), "circuit-history"],
    queryFn: () => circuitHistory(id, shown),
  });
  return (
    <DataTable
      name="circuit-history"
      label="The times in which the circuit was open, newest first"
      columns={columns}
      rows={list.data?.data}
      rowKey={(period) => period.opened_at}
      error={list.error}
      retry={() => void list.refetch()}
      tools={
        <Title order={2} size="h5">
          History
        </Title>
      }
      empty={<Empty title="The circuit was never open">Nothing was held back by it.</Empty>}
    />
  );
}
