import { Anchor, Button, Text } from "@mantine/core";
import { useThrottledCallback } from "@mantine/hooks";
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link } from "wouter";

import { useRights } from "~/api/session.tsx";
import { useStream } from "~/api/stream.ts";
import { readWebhookHours } from "~/api/webhookStats.ts";
import { DataTable } from "~/ui/DataTable.tsx";
import { Empty } from "~/ui/Empty.tsx";
import { useFilters } from "~/ui/filters.ts";
import { NothingMatches } from "~/ui/NothingMatches.tsx";
import { PageTitle } from "~/ui/PageTitle.tsx";

import { makeColumns } from "./columns.tsx";
import { WebhookFilters } from "./WebhookFilters.tsx";
import { filterNames, type ListFilters, readWebhooks } from "./webhookList.ts";

const refreshMs = 30_000;
const changesMs = 5_000;

/** The hours of the webhooks that are shown. */
function useHours(ids: string[]) {
  const query = useQuery({
    queryKey: ["webhook-hours", ids],
    queryFn: () => readWebhookHours(ids),
    enabled: ids.length > 0,
    refetchInterval: refreshMs,
    placeholderData: keepPreviousData,
  });
  return query.isError ? null : query.data;
}

interface NothingProperties {
  filters: ListFilters;
  change: (changes: Partial<Record<keyof ListFilters, string | null>>) => void;
  goOn: (() => void) | null;
}

function NothingFound({ filters, change, goOn }: NothingProperties) {
  const rights = useRights();
  if (goOn) {
    return (
      <Empty title="No webhook matches so far">
        There are more webhooks to search.
        <Button variant="default" size="xs" mt="sm" display="block" mx="auto" onClick={goOn}>
          Search on
        </Button>
      </Empty>
    );
  }
  if (Object.keys(filters).length > 0) {
    return <NothingMatches what="webhook" filters={filters} change={change} />;
  }
  return (
    <Empty title="There are no webhooks yet">
      A webhook is a URL that receives events.{" "}
      {rights.admin && (
        <Anchor component={Link} href="/webhooks/new">
          Create the first one
        </Anchor>
      )}
    </Empty>
  );
}

export default function WebhooksPage() {
  const rights = useRights();
  const [filters, change] = useFilters(filterNames);
  const queries = useQueryClient();
  const list = useQuery({
    queryKey: ["webhooks", filters],
    queryFn: () => readWebhooks(filters),
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
  });
  const refresh = useThrottledCallback(
    () => void queries.invalidateQueries({ queryKey: ["webhooks"] }),
    changesMs,
  );
  useStream({}, (events) => {
    if (events.some(({ kind }) => kind !== "delivery" && kind !== "created")) refresh();
  });

  const rows = list.data?.data;
  const ids = useMemo(() => (rows ?? []).map((row) => row.hook.id), [rows]);
  const hours = useHours(ids);
  const isWorst = filters.sort === "worst";
  const columns = useMemo(
    () => makeColumns(rights.operator, hours, isWorst),
    [rights.operator, hours, isWorst],
  );
  const next = list.data?.next_cursor ?? null;
  return (
    <>
      <PageTitle title="Webhooks">
        <Button
          variant={isWorst ? "filled" : "default"}
          aria-pressed={isWorst}
          onClick={() => change({ sort: isWorst ? null : "worst" })}
        >
          Worst first
        </Button>
        {rights.admin && (
          <Button component={Link} href="/webhooks/new">
            Create webhook
          </Button>
        )}
      </PageTitle>
      {isWorst && (
        <Text size="sm" c="dimmed" mb="sm">
          Webhooks with deliveries in the last 24 hours, the lowest success rate of deliveries
          first.
        </Text>
      )}
      <DataTable
        name="webhooks"
        label="Webhooks"
        columns={columns}
        rows={rows}
        rowKey={(row) => row.hook.id}
        href={(row) => `/webhooks/${row.hook.id}`}
        error={list.error}
        retry={() => void list.refetch()}
        sort={{
          current: filters.sort,
          change: (sort) => change({ sort: filters.sort === sort ? null : sort }),
        }}
        paging={{ next, isFirst: !filters.cursor, go: (cursor) => change({ cursor }) }}
        tools={<WebhookFilters filters={filters} change={change} />}
        empty={
          <NothingFound
            filters={filters}
            change={change}
            goOn={next === null ? null : () => change({ cursor: next })}
          />
        }
      />
    </>
  );
}
