import { Anchor, Text, Title } from "@mantine/core";
import { Link } from "wouter";

import type { Stats } from "~/api/types.ts";
import { formatCount, formatDuration, formatShare } from "~/lib/format.ts";
import { type Range, rangeLabels } from "~/lib/stats.ts";
import { type Column, DataTable } from "~/ui/DataTable.tsx";
import { Empty } from "~/ui/Empty.tsx";

import { rateTone } from "./rateTone.ts";

type Row = Stats["webhooks"]["data"][number];

const nameOf = (row: Row) => row.name ?? row.url ?? row.webhook_id;

const columns: Column<Row>[] = [
  {
    id: "webhook",
    header: "Webhook",
    width: "32%",
    cell: (row) => (
      <div>
        <Anchor
          component={Link}
          href={`/webhooks/${row.webhook_id}`}
          className="truncate"
          display="block"
        >
          {nameOf(row)}
        </Anchor>
        <Text size="xs" c="dimmed" className="truncate">
          {row.url ?? "deleted"}
        </Text>
      </div>
    ),
    value: nameOf,
  },
  {
    id: "success",
    header: "Success rate",
    cell: (row) => {
      const tone = rateTone(row.delivery_success_rate);
      return (
        <Text span size="sm" fw={600} c={tone ? `var(--status-${tone})` : undefined}>
          {formatShare(row.delivery_success_rate)}
        </Text>
      );
    },
    value: (row) => row.delivery_success_rate,
  },
  {
    id: "p50",
    header: "Response time p50",
    cell: (row) => formatDuration(row.duration_ms?.p50),
    value: (row) => row.duration_ms?.p50 ?? null,
  },
  {
    id: "p95",
    header: "Response time p95",
    cell: (row) => formatDuration(row.duration_ms?.p95),
    value: (row) => row.duration_ms?.p95 ?? null,
  },
  {
    id: "attempts",
    header: "Attempts",
    cell: (row) => formatCount(row.attempts),
    value: (row) => row.attempts,
  },
  {
    id: "failed",
    header: "Failed attempts",
    cell: (row) => formatCount(row.failed),
    value: (row) => row.failed,
  },
  {
    id: "dead",
    header: "Dead letters",
    cell: (row) => formatCount(row.dead_letters),
    value: (row) => row.dead_letters,
  },
];

interface Properties {
  rows: Row[] | undefined;
  range: Range;
  retry: () => void;
}

/** Success rate and response time per webhook, worst first. */
export function WorstWebhooks({ rows, range, retry }: Properties) {
  return (
    <DataTable
      name="worst-webhooks"
      label="Webhooks by success rate, worst first"
      columns={columns}
      rows={rows}
      rowKey={(row) => row.webhook_id}
      href={(row) => `/webhooks/${row.webhook_id}`}
      retry={retry}
      tools={
        <div>
          <Title order={2} size="h4">
            Worst webhooks
          </Title>
          <Text size="sm" c="dimmed">
            Success rate and response time of each webhook, {rangeLabels[range]}, worst first.
          </Text>
        </div>
      }
      empty={
        <Empty title="Nothing was sent in this time">
          Choose a longer time range, or publish an event.
        </Empty>
      }
    />
  );
}
