import { Anchor, Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";

import { api, body } from "~/api/client.ts";
import type { Delivery, Page, Webhook } from "~/api/types.ts";
import { formatDuration } from "~/lib/format.ts";
import { nextColumn } from "~/pages/deliveries/deliveryColumns.tsx";
import { attemptsOf } from "~/pages/deliveries/deliveryWords.ts";
import { type Column, DataTable } from "~/ui/DataTable.tsx";
import { Empty } from "~/ui/Empty.tsx";
import { Status } from "~/ui/Status.tsx";
import { Time } from "~/ui/Time.tsx";

import { webhookKey } from "./queries.ts";

const shown = 20;

const columns: Column<Delivery>[] = [
  {
    id: "event_type",
    header: "Event type",
    width: "24%",
    cell: (delivery) => (
      <Anchor
        component={Link}
        href={`/deliveries/${delivery.id}`}
        className="truncate"
        display="block"
      >
        {delivery.event_type}
      </Anchor>
    ),
    value: (delivery) => delivery.event_type,
  },
  {
    id: "status",
    header: "Status",
    cell: (delivery) => <Status value={delivery.status} />,
    value: (delivery) => delivery.status,
  },
  {
    id: "attempts",
    header: "Attempts",
    cell: attemptsOf,
    value: attemptsOf,
  },
  {
    id: "answer",
    header: "Last answer",
    cell: (delivery) => delivery.http_status ?? delivery.failure_category ?? "–",
    value: (delivery) => delivery.http_status ?? delivery.failure_category,
  },
  {
    id: "duration",
    header: "Duration",
    cell: (delivery) => formatDuration(delivery.last_duration_ms),
    value: (delivery) => delivery.last_duration_ms,
  },
  {
    id: "last",
    header: "Last attempt",
    cell: (delivery) => <Time at={delivery.last_attempt_at} />,
    value: (delivery) => delivery.last_attempt_at,
  },
  nextColumn,
];

export function DeliveriesTab({ hook }: { hook: Webhook }) {
  const list = useQuery({
    queryKey: [...webhookKey(hook.id), "deliveries"],
    queryFn: () =>
      body(
        api.GET("/v1/webhooks/{id}/deliveries", {
          params: { path: { id: hook.id }, query: { limit: shown } },
        }),
      ) as Promise<Page<Delivery>>,
  });
  return (
    <DataTable
      name="webhook-deliveries"
      label="The latest deliveries of this webhook"
      columns={columns}
      rows={list.data?.data}
      rowKey={(delivery) => delivery.id}
      href={(delivery) => `/deliveries/${delivery.id}`}
      error={list.error}
      retry={() => void list.refetch()}
      tools={
        <Button
          component={Link}
          href={`/deliveries?webhook_id=${hook.id}`}
          variant="default"
          size="xs"
        >
          All deliveries, with filters
        </Button>
      }
      empty={
        <Empty title="Nothing was delivered yet">
          Publish an event of a type that this webhook receives, or send a test.
        </Empty>
      }
    />
  );
}
