import { Anchor, Button, Group, Select, Text } from "@mantine/core";
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "wouter";

import { api, body } from "~/api/client.ts";
import { useRights } from "~/api/session.tsx";
import { useStream } from "~/api/stream.ts";
import type { EventSummary, Page } from "~/api/types.ts";
import { formatBytes } from "~/lib/bytes.ts";
import { rangeTimes } from "~/lib/timeRange.ts";
import { type Column, DataTable } from "~/ui/DataTable.tsx";
import { Empty } from "~/ui/Empty.tsx";
import { type Filters, useFilters } from "~/ui/filters.ts";
import { NothingMatches } from "~/ui/NothingMatches.tsx";
import { PageTitle } from "~/ui/PageTitle.tsx";
import { pagingBy } from "~/ui/paging.ts";
import { TextFilter } from "~/ui/TextFilter.tsx";
import { Time } from "~/ui/Time.tsx";
import { TimeRange } from "~/ui/TimeRange.tsx";

const pageSize = 50;
const names = [
  "event_type",
  "resource_id",
  "tenant_id",
  "matched",
  "range",
  "from",
  "to",
  "cursor",
] as const;
type Name = (typeof names)[number];

const columns: Column<EventSummary>[] = [
  {
    id: "type",
    header: "Event",
    width: "30%",
    cell: (event) => (
      <div>
        <Anchor component={Link} href={`/events/${event.id}`} className="truncate" display="block">
          {event.type}
        </Anchor>
        <Text size="xs" c="dimmed" className="mono truncate">
          {event.id}
        </Text>
      </div>
    ),
    value: (event) => event.id,
  },
  {
    id: "resource",
    header: "Resource",
    cell: (event) => event.resource_id ?? "–",
    value: (event) => event.resource_id,
  },
  {
    id: "tenant",
    header: "Tenant",
    cell: (event) => event.tenant_id ?? "–",
    value: (event) => event.tenant_id,
  },
  {
    id: "priority",
    header: "Priority",
    width: "6rem",
    cell: (event) => event.priority,
    value: (event) => event.priority,
  },
  {
    id: "size",
    header: "Size",
    width: "6rem",
    cell: (event) => formatBytes(event.data_bytes),
    value: (event) => event.data_bytes,
  },
  {
    id: "published",
    header: "Published",
    width: "8rem",
    cell: (event) => <Time at={event.created_at} />,
    value: (event) => event.created_at,
  },
  {
    id: "key",
    header: "Idempotency key",
    hidden: true,
    cell: (event) => <span className="mono">{event.idempotency_key}</span>,
    value: (event) => event.idempotency_key,
  },
  {
    id: "source",
    header: "Source",
    hidden: true,
    cell: (event) => event.source ?? "–",
    value: (event) => event.source,
  },
  {
    id: "ordering",
    header: "Ordering key",
    hidden: true,
    cell: (event) => event.ordering_key ?? "–",
    value: (event) => event.ordering_key,
  },
];

interface FilterBarProperties {
  filters: Filters<Name>;
  change: (changes: Partial<Record<Name, string | null>>, replace?: boolean) => void;
  operator: boolean;
}

function FilterBar({ filters, change, operator }: FilterBarProperties) {
  return (
    <Group gap="sm" align="flex-end">
      <TextFilter
        label="Event type"
        placeholder="order.* or order.paid"
        value={filters.event_type}
        w={180}
        change={(event_type) => change({ event_type }, true)}
      />
      <TextFilter
        label="Resource"
        w={130}
        value={filters.resource_id}
        change={(resource_id) => change({ resource_id }, true)}
      />
      {operator && (
        <TextFilter
          label="Tenant"
          w={130}
          value={filters.tenant_id}
          change={(tenant_id) => change({ tenant_id }, true)}
        />
      )}
      <Select
        label="Webhooks"
        placeholder="Any"
        clearable
        w={145}
        value={filters.matched ?? null}
        onChange={(matched) => change({ matched })}
        data={[
          { value: "true", label: "Matched some" },
          { value: "false", label: "Matched none" },
        ]}
      />
      <TimeRange filter={filters} change={change} />
    </Group>
  );
}

function NoEvents({ mayPublish }: { mayPublish: boolean }) {
  return (
    <Empty title="There are no events yet">
      An event is something that happened. It is sent to every webhook that wants its type.{" "}
      {mayPublish && (
        <Anchor component={Link} href="/events/new">
          Publish the first one
        </Anchor>
      )}
    </Empty>
  );
}

export default function EventsPage() {
  const rights = useRights();
  const [filters, change] = useFilters(names);
  const queries = useQueryClient();
  const { range, from, to, ...rest } = filters;
  const list = useQuery({
    queryKey: ["events", filters],
    queryFn: () =>
      body(
        api.GET("/v1/events", {
          params: {
            query: {
              ...rest,
              ...rangeTimes({ range, from, to }, Date.now()),
              matched: filters.matched ? filters.matched === "true" : undefined,
              limit: pageSize,
            },
          },
        }),
      ) as Promise<Page<EventSummary>>,
    placeholderData: keepPreviousData,
  });
  // An attempt is the first thing that the stream tells of an event.
  useStream({}, () => void queries.invalidateQueries({ queryKey: ["events"] }), !filters.cursor);
  return (
    <>
      <PageTitle title="Events">
        {rights.publish && (
          <Button component={Link} href="/events/new">
            Publish event
          </Button>
        )}
      </PageTitle>
      <DataTable
        name="events"
        label="Events"
        columns={rights.operator ? columns : columns.filter((column) => column.id !== "tenant")}
        rows={list.data?.data}
        rowKey={(event) => event.id}
        href={(event) => `/events/${event.id}`}
        error={list.error}
        retry={() => void list.refetch()}
        paging={pagingBy(list.data, filters, change)}
        tools={<FilterBar filters={filters} change={change} operator={rights.operator} />}
        empty={
          Object.keys(filters).length > 0 ? (
            <NothingMatches what="event" filters={filters} change={change} />
          ) : (
            <NoEvents mayPublish={rights.publish} />
          )
        }
      />
    </>
  );
}
