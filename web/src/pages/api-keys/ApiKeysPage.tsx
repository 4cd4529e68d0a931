import { Button, Group, Text } from "@mantine/core";
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, body } from "~/api/client.ts";
import { useRights } from "~/api/session.tsx";
import type { ApiKey, Page } from "~/api/types.ts";
import { plainName } from "~/lib/plainName.ts";
import { useConfirm } from "~/ui/confirm.tsx";
import { type Column, DataTable } from "~/ui/DataTable.tsx";
import { Empty } from "~/ui/Empty.tsx";
import { useFilters } from "~/ui/filters.ts";
import { PageTitle } from "~/ui/PageTitle.tsx";
import { pagingBy } from "~/ui/paging.ts";
import { notifyDone, notifyProblem } from "~/ui/Problem.tsx";
import { ShownOnce } from "~/ui/ShownOnce.tsx";
import { Time } from "~/ui/Time.tsx";
import { useNewDialog } from "~/ui/useNewDialog.ts";

import { NewKey } from "./NewKey.tsx";

const pageSize = 50;
const names = ["cursor"] as const;
const scopeOf = (key: ApiKey) => (key.role ? `${key.scope}, ${key.role}` : key.scope);

const columns: Column<ApiKey>[] = [
  {
    id: "name",
    header: "Name",
    width: "26%",
    cell: (key) => (
      <div>
        <Text size="sm" className="truncate">
          {key.name || "Without a name"}
        </Text>
        <Text size="xs" c="dimmed" className="mono truncate">
          {key.id}
        </Text>
      </div>
    ),
    value: (key) => key.name,
  },
  { id: "scope", header: "Scope", width: "9rem", cell: scopeOf, value: scopeOf },
  {
    id: "tenant",
    header: "Tenant",
    cell: (key) => key.tenant_id ?? "–",
    value: (key) => key.tenant_id,
  },
  {
    id: "created",
    header: "Created",
    width: "8rem",
    cell: (key) => <Time at={key.created_at} />,
    value: (key) => key.created_at,
  },
  {
    id: "used",
    header: "Last used",
    width: "8rem",
    cell: (key) => (key.last_used_at ? <Time at={key.last_used_at} /> : "never"),
    value: (key) => key.last_used_at,
  },
  {
    id: "expires",
    header: "Expires",
    width: "8rem",
    cell: (key) => (key.expires_at ? <Time at={key.expires_at} /> : "never"),
    value: (key) => key.expires_at,
  },
];

function useRevoke() {
  const confirm = useConfirm();
  const queries = useQueryClient();
  const revoke = useMutation({
    mutationFn: (key: ApiKey) =>
      body(api.DELETE("/v1/api-keys/{id}", { params: { path: { id: key.id } } })),
    onSuccess: (_, key) => {
      notifyDone(`The key ${plainName(key.name || key.id)} is revoked.`);
      void queries.invalidateQueries({ queryKey: ["api-keys"] });
    },
    onError: notifyProblem,
  });
  return async (key: ApiKey) => {
    const yes = await confirm({
      title: `Revoke ${plainName(key.name || key.id)}?`,
      action: "Revoke key",
      consequences:
        "Programs and sessions that use this key are refused from their next request on. This " +
        "cannot be undone; create another key first if it is still in use.",
    });
    if (yes) revoke.mutate(key);
  };
}

export default function ApiKeysPage() {
  const rights = useRights();
  const [filters, change] = useFilters(names);
  const { opened: creating, open, close } = useNewDialog();
  const [key, setKey] = useState<string | null>(null);
  const revoke = useRevoke();
  const list = useQuery({
    queryKey: ["api-keys", filters],
    queryFn: () =>
      body(
        api.GET("/v1/api-keys", { params: { query: { ...filters, limit: pageSize } } }),
      ) as Promise<Page<ApiKey>>,
    placeholderData: keepPreviousData,
  });
  const actions: Column<ApiKey> = {
    id: "revoke",
    header: "Revoke",
    width: "7rem",
    cell: (row) => (
      <Button
        variant="default"
        size="compact-xs"
        aria-label={`Revoke ${row.name || row.id}`}
        onClick={() => void revoke(row)}
      >
        Revoke
      </Button>
    ),
    value: () => null,
  };
  const shown = columns.filter((column) => rights.operator || column.id !== "tenant");
  return (
    <>
      <PageTitle title="API keys">
        <Button onClick={open}>Create API key</Button>
      </PageTitle>
      <DataTable
        name="api-keys"
        label="API keys"
        columns={[...shown, actions]}
        rows={list.data?.data}
        rowKey={(row) => row.id}
        error={list.error}
        retry={() => void list.refetch()}
        paging={pagingBy(list.data, filters, change)}
        tools={
          <Group>
            <Text size="sm" c="dimmed">
              Programs send a key with every request. Give each program one of its own.
            </Text>
          </Group>
        }
        empty={
          <Empty title="There are no API keys">
            Create one for a program that publishes events or manages webhooks.
          </Empty>
        }
      />
      <NewKey opened={creating} close={close} onKey={setKey} />
      <ShownOnce title="The new API key" what="the key" text={key} onClose={() => setKey(null)}>
        Programs send it in the header <span className="mono">Authorization: Bearer …</span>
      </ShownOnce>
    </>
  );
}
