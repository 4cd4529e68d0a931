import { Anchor, Button, MultiSelect, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";

import { api, body } from "~/api/client.ts";
import { useRights } from "~/api/session.tsx";
import type { Operation, Page } from "~/api/types.ts";
import { type Column, DataTable } from "~/ui/DataTable.tsx";
import { Empty } from "~/ui/Empty.tsx";
import { useFilters } from "~/ui/filters.ts";
import { NothingMatches } from "~/ui/NothingMatches.tsx";
import { PageTitle } from "~/ui/PageTitle.tsx";
import { pagingBy } from "~/ui/paging.ts";
import { Status } from "~/ui/Status.tsx";
import { TextFilter } from "~/ui/TextFilter.tsx";
import { Time } from "~/ui/Time.tsx";

import { OperationDrawer } from "./OperationDrawer.tsx";
import { OperationProgress } from "./OperationProgress.tsx";
import { filterWords, isActive, kindWords, outcomeWords, progressOf } from "./operationWords.ts";
import { pollMs, useCancelOperation } from "./useOperations.ts";
import { useStarters } from "./useStarters.ts";

const pageSize = 50;
const names = ["kind", "status", "tenant_id", "operation", "cursor"] as const;
/** Another visitor may start one. */
const idlePollMs = 10_000;

const starterColumn = (starters: Map<string, string>): Column<Operation> => ({
  id: "starter",
  header: "Started by",
  width: "8rem",
  cell: (operation) => {
    const name = starters.get(operation.id) ?? "–";
    return (
      <Text size="sm" className="truncate" title={name}>
        {name}
      </Text>
    );
  },
  value: (operation) => starters.get(operation.id) ?? null,
});

function makeColumns(open: (id: string) => void): Column<Operation>[] {
  return [
    {
      id: "kind",
      header: "Operation",
      width: "7rem",
      cell: (operation) => (
        <Anchor component="button" type="button" size="sm" onClick={() => open(operation.id)}>
          {kindWords(operation.kind)}
        </Anchor>
      ),
      value: (operation) => operation.kind,
    },
    {
      id: "status",
      header: "State",
      width: "7rem",
      cell: (operation) => <Status value={operation.status} />,
      value: (operation) => operation.status,
    },
    {
      id: "progress",
      header: "Progress",
      width: "14rem",
      cell: (operation) => <OperationProgress operation={operation} />,
      value: (operation) => progressOf(operation).words,
    },
    {
      id: "outcome",
      header: "Outcome",
      width: "15rem",
      cell: (operation) => (
        <Text size="xs" lh={1.25}>
          {outcomeWords(operation)}
        </Text>
      ),
      value: outcomeWords,
    },
    {
      id: "covers",
      header: "Covers",
      cell: (operation) => (
        <Text size="sm" className="truncate" title={filterWords(operation.filter)}>
          {filterWords(operation.filter)}
        </Text>
      ),
      value: (operation) => filterWords(operation.filter),
    },
    {
      id: "created",
      header: "Created",
      width: "7rem",
      cell: (operation) => <Time at={operation.created_at} />,
      value: (operation) => operation.created_at,
    },
    {
      id: "tenant",
      header: "Tenant",
      width: "7rem",
      hidden: true,
      cell: (operation) => operation.tenant_id ?? "–",
      value: (operation) => operation.tenant_id,
    },
  ];
}

const cancelColumn = (cancel: (operation: Operation) => Promise<void>): Column<Operation> => ({
  id: "cancel",
  header: "Action",
  width: "6rem",
  isAction: true,
  cell: (operation) =>
    isActive(operation) && (
      <Button
        size="compact-sm"
        variant="light"
        aria-label={`Cancel ${kindWords(operation.kind).toLowerCase()} ${operation.id}`}
        onClick={() => void cancel(operation)}
      >
        Cancel
      </Button>
    ),
  value: () => null,
});

const kindChoices = (["retry_batch", "replay", "discard"] as const).map((value) => ({
  value,
  label: kindWords(value),
}));
const statusChoices = ["scheduled", "running", "completed", "cancelled", "failed"];

export default function OperationsPage() {
  const rights = useRights();
  const [filters, change] = useFilters(names);
  const { operation, ...narrowed } = filters;
  const cancel = useCancelOperation();
  const list = useQuery({
    queryKey: ["operations", narrowed],
    queryFn: () =>
      body(
        api.GET("/v1/operations", { params: { query: { ...narrowed, limit: pageSize } } }),
      ) as Promise<Page<Operation>>,
    refetchInterval: ({ state }) => (state.data?.data.some(isActive) ? pollMs : idlePollMs),
  });
  const open = (id: string | null) => change({ operation: id, cursor: filters.cursor ?? null });
  const starters = useStarters(list.data?.data);
  const columns = makeColumns(open).filter((column) => rights.operator || column.id !== "tenant");
  if (starters) columns.push(starterColumn(starters));
  const isFiltered = Object.keys(narrowed).length > 0;
  return (
    <>
      <PageTitle title="Operations" />
      <DataTable
        name="operations"
        label="Operations"
        minWidth={1100}
        columns={rights.admin ? [...columns, cancelColumn(cancel)] : columns}
        rows={list.data?.data}
        rowKey={(row) => row.id}
        error={list.error}
        retry={() => void list.refetch()}
        paging={pagingBy(list.data, filters, change)}
        tools={
          <>
            <MultiSelect
              label="Operation"
              placeholder={filters.kind ? undefined : "Any"}
              clearable
              w={160}
              value={filters.kind?.split(",") ?? []}
              onChange={(values) => change({ kind: values.join(",") })}
              data={kindChoices}
            />
            <MultiSelect
              label="State"
              placeholder={filters.status ? undefined : "Any"}
              clearable
              w={160}
              value={filters.status?.split(",") ?? []}
              onChange={(values) => change({ status: values.join(",") })}
              data={statusChoices}
            />
            {rights.operator && (
              <TextFilter
                label="Tenant"
                placeholder="Any"
                w={145}
                value={filters.tenant_id}
                change={(tenant_id) => change({ tenant_id }, true)}
              />
            )}
          </>
        }
        empty={
          isFiltered ? (
            <NothingMatches what="operation" filters={narrowed} change={change} />
          ) : (
            <Empty title="There are no operations">
              Bulk retries and discards of{" "}
              <Anchor component={Link} href="/dead-letters">
                dead letters
              </Anchor>{" "}
              and replays of webhooks appear here with their progress.
            </Empty>
          )
        }
      />
      <OperationDrawer id={operation} close={() => open(null)} />
    </>
  );
}
