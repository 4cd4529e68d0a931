import { Anchor, Switch } from "@mantine/core";
import { Link } from "wouter";

import { useRights } from "~/api/session.tsx";
import { DataTable } from "~/ui/DataTable.tsx";
import { Empty } from "~/ui/Empty.tsx";
import { useFilters } from "~/ui/filters.ts";
import { NewRows } from "~/ui/NewRows.tsx";
import { NothingMatches } from "~/ui/NothingMatches.tsx";
import { PageTitle } from "~/ui/PageTitle.tsx";
import { StreamBadge } from "~/ui/StreamBadge.tsx";

import { deliveryColumns, retryColumn, withoutTenant } from "./deliveryColumns.tsx";
import { type DeliveryFilters, filterNames, isNarrowed } from "./deliveryFilters.ts";
import { FilterBar } from "./FilterBar.tsx";
import { useDeliveryActions } from "./useDeliveryActions.ts";
import { pageSize, useLiveDeliveries } from "./useLiveDeliveries.ts";

interface NoneProperties {
  filters: DeliveryFilters;
  change: (changes: Partial<Record<keyof DeliveryFilters, string | null>>) => void;
  next: string | null;
}

function NoDeliveries({ filters, change, next }: NoneProperties) {
  if (next !== null) {
    return (
      <Empty title="No match among the newest deliveries">
        Older ones may match. Go to the next page to search them.
      </Empty>
    );
  }
  if (isNarrowed(filters)) {
    return <NothingMatches what="delivery" filters={filters} change={change} keep={["live"]} />;
  }
  return (
    <Empty title="There are no deliveries yet">
      A delivery is created for each webhook that matches a published event.{" "}
      <Anchor component={Link} href="/events">
        Publish an event
      </Anchor>
    </Empty>
  );
}

export default function DeliveriesPage() {
  const rights = useRights();
  const [filters, change] = useFilters(filterNames);
  const list = useLiveDeliveries(filters);
  const actions = useDeliveryActions();
  const live = filters.live !== "off";
  const columns = rights.operator ? deliveryColumns : withoutTenant(deliveryColumns);
  return (
    <>
      <PageTitle title="Deliveries">
        {live && <StreamBadge state={list.stream} />}
        <Switch
          label="Live tail"
          checked={live}
          onChange={(event) => change({ live: event.currentTarget.checked ? null : "off" })}
        />
      </PageTitle>
      <NewRows
        count={list.newCount}
        max={pageSize}
        show={() => {
          if (filters.cursor) change({ cursor: null });
          list.showNew();
        }}
      />
      <DataTable
        name="deliveries"
        label="Deliveries"
        minWidth={1000}
        columns={
          rights.admin ? [...columns, retryColumn(actions.retry, actions.retrying)] : columns
        }
        rows={list.rows}
        rowKey={(delivery) => delivery.id}
        href={(delivery) => `/deliveries/${delivery.id}`}
        error={list.error}
        retry={list.refetch}
        paging={{
          next: list.next,
          isFirst: !filters.cursor,
          go: (cursor) => {
            change({ cursor });
            window.scrollTo({ top: 0 });
          },
        }}
        tools={<FilterBar filters={filters} change={change} />}
        empty={<NoDeliveries filters={filters} change={change} next={list.next} />}
      />
    </>
  );
}
