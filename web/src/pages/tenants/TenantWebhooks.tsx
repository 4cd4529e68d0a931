import { Anchor, Group, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";

import { api, body } from "~/api/client.ts";
import type { Page, Webhook } from "~/api/types.ts";
import { webhookState } from "~/pages/webhooks/webhookState.ts";
import { type Column, DataTable } from "~/ui/DataTable.tsx";
import { Empty } from "~/ui/Empty.tsx";
import { Status } from "~/ui/Status.tsx";
import { Time } from "~/ui/Time.tsx";

const shownMax = 10;

const columns: Column<Webhook>[] = [
  {
    id: "name",
    header: "Webhook",
    width: "30%",
    cell: (hook) => (
      <Anchor component={Link} href={`/webhooks/${hook.id}`} className="truncate" display="block">
        {hook.name ?? hook.id}
      </Anchor>
    ),
    value: (hook) => hook.name ?? hook.id,
  },
  {
    id: "url",
    header: "URL",
    cell: (hook) => <span className="truncate">{hook.url}</span>,
    value: (hook) => hook.url,
  },
  {
    id: "state",
    header: "State",
    width: "7rem",
    cell: (hook) => <Status value={webhookState(hook)} />,
    value: webhookState,
  },
  {
    id: "success",
    header: "Last success",
    width: "8rem",
    cell: (hook) => <Time at={hook.last_success_at} />,
    value: (hook) => hook.last_success_at,
  },
];

export function TenantWebhooks({ tenantId }: { tenantId: string }) {
  const list = useQuery({
    queryKey: ["webhooks", "of", tenantId],
    queryFn: () =>
      body(
        api.GET("/v1/webhooks", { params: { query: { tenant_id: tenantId, limit: shownMax } } }),
      ) as Promise<Page<Webhook>>,
  });
  const all = `?tenant_id=${encodeURIComponent(tenantId)}`;
  return (
    <section aria-labelledby="tenant-webhooks">
      <Group justify="space-between" align="baseline">
        <Title order={2} size="h4" id="tenant-webhooks">
          Webhooks
        </Title>
        <Group gap="md">
          <Anchor component={Link} href={`/webhooks${all}`} size="sm">
            All its webhooks
          </Anchor>
          <Anchor component={Link} href={`/deliveries${all}`} size="sm">
            Its deliveries
          </Anchor>
          <Anchor component={Link} href={`/dead-letters${all}`} size="sm">
            Its dead letters
          </Anchor>
          <Anchor component={Link} href={`/notifications${all}`} size="sm">
            Its notifications
          </Anchor>
        </Group>
      </Group>
      <DataTable
        name="tenant-webhooks"
        label="Webhooks of the tenant"
        columns={columns}
        rows={list.data?.data}
        rowKey={(hook) => hook.id}
        href={(hook) => `/webhooks/${hook.id}`}
        error={list.error}
        retry={() => void list.refetch()}
        empty={
          <Empty title="It has no webhooks">
            Its users create them in the portal. You can create one for it, too.
          </Empty>
        }
      />
    </section>
  );
}
