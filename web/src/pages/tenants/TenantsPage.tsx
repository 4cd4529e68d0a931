import { Anchor, Button, Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "wouter";

import { api, body } from "~/api/client.ts";
import type { Page, Tenant } from "~/api/types.ts";
import { type Column, DataTable } from "~/ui/DataTable.tsx";
import { Empty } from "~/ui/Empty.tsx";
import { useFilters } from "~/ui/filters.ts";
import { PageTitle } from "~/ui/PageTitle.tsx";
import { pagingBy } from "~/ui/paging.ts";
import { Status } from "~/ui/Status.tsx";
import { Time } from "~/ui/Time.tsx";
import { useNewDialog } from "~/ui/useNewDialog.ts";

import { NewTenant } from "./NewTenant.tsx";
import { limitsWords, tenantPath, tenantState } from "./tenant.ts";

const pageSize = 50;
const names = ["cursor"] as const;

const columns: Column<Tenant>[] = [
  {
    id: "id",
    header: "Tenant",
    width: "30%",
    cell: (tenant) => (
      <div>
        <Anchor component={Link} href={tenantPath(tenant.id)} className="truncate" display="block">
          {tenant.name ?? tenant.id}
        </Anchor>
        <Text size="xs" c="dimmed" className="mono truncate">
          {tenant.id}
        </Text>
      </div>
    ),
    value: (tenant) => tenant.id,
  },
  {
    id: "state",
    header: "State",
    width: "8rem",
    cell: (tenant) => <Status value={tenantState(tenant)} />,
    value: tenantState,
  },
  {
    id: "limits",
    header: "Limits of its own",
    cell: (tenant) => <span className="truncate">{limitsWords(tenant.limits)}</span>,
    value: (tenant) => limitsWords(tenant.limits),
  },
  {
    id: "pool",
    header: "Pool",
    hidden: true,
    cell: (tenant) => tenant.pool ?? "–",
    value: (tenant) => tenant.pool,
  },
  {
    id: "created",
    header: "Registered",
    width: "8rem",
    cell: (tenant) => <Time at={tenant.created_at} />,
    value: (tenant) => tenant.created_at,
  },
];

export default function TenantsPage() {
  const [filters, change] = useFilters(names);
  const { opened: registering, open, close } = useNewDialog();
  const list = useQuery({
    queryKey: ["tenants", filters],
    queryFn: () =>
      body(
        api.GET("/v1/tenants", { params: { query: { ...filters, limit: pageSize } } }),
      ) as Promise<Page<Tenant>>,
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <PageTitle title="Tenants">
        <Button onClick={open}>Register tenant</Button>
      </PageTitle>
      <DataTable
        name="tenants"
        label="Tenants"
        columns={columns}
        rows={list.data?.data}
        rowKey={(tenant) => tenant.id}
        href={(tenant) => tenantPath(tenant.id)}
        error={list.error}
        retry={() => void list.refetch()}
        paging={pagingBy(list.data, filters, change)}
        empty={
          <Empty title="There are no registered tenants">
            A tenant is one of your customers, with webhooks and events of its own. Register it to
            give it limits and a portal.
          </Empty>
        }
      />
      <NewTenant opened={registering} close={close} />
    </>
  );
}
