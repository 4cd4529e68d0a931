import { Button, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import type { DeadLetterGroups } from "~/api/deadLetterGroups.ts";
import type { RetryBatch } from "~/api/deadLetterOperations.ts";
import { useRights } from "~/api/session.tsx";
import type { Operation } from "~/api/types.ts";
import { formatCount } from "~/lib/format.ts";
import { retryColumn, withoutTenant } from "~/pages/deliveries/deliveryColumns.tsx";
import { useDeliveryActions } from "~/pages/deliveries/useDeliveryActions.ts";
import { OperationPanel } from "~/pages/operations/OperationPanel.tsx";
import { DataTable } from "~/ui/DataTable.tsx";
import { Empty } from "~/ui/Empty.tsx";
import { useFilters } from "~/ui/filters.ts";
import { NewRows } from "~/ui/NewRows.tsx";
import { NothingMatches } from "~/ui/NothingMatches.tsx";
import { PageTitle } from "~/ui/PageTitle.tsx";
import { StreamBadge } from "~/ui/StreamBadge.tsx";

import { BulkRetry } from "./BulkRetry.tsx";
import { deadLetterColumns } from "./deadLetterColumns.tsx";
import { DeadLetterFilterBar } from "./DeadLetterFilterBar.tsx";
import {
  batchFilter,
  deadLetterQuery,
  filterNames,
  filterOfGroup,
  isNarrowed,
} from "./deadLetterFilters.ts";
import { Groups } from "./Groups.tsx";
import { pageSize, useDeadLetters } from "./useDeadLetters.ts";
import { useDiscard } from "./useDiscard.tsx";
import { useDiscardSelected } from "./useDiscardSelected.ts";
import { useRetrySelected } from "./useRetrySelected.ts";

function Total({ total, narrowed }: { total: DeadLetterGroups | undefined; narrowed: boolean }) {
  const count = total ? `${formatCount(total.total)}${total.more ? "+" : ""}` : "…";
  const word = total?.total === 1 ? "dead letter" : "dead letters";
  return (
    <Text c="dimmed" mb="md" aria-live="polite">
      {count} {word} {narrowed ? "match the filters" : "in all"}
    </Text>
  );
}

export default function DeadLettersPage() {
  const rights = useRights();
  const queries = useQueryClient();
  const [filters, change] = useFilters(filterNames);
  const [selected, setSelected] = useState(new Set<string>());
  const [batch, setBatch] = useState<RetryBatch["filter"] | null>(null);
  const dead = useDeadLetters(filters, selected.size > 0);
  const actions = useDeliveryActions();
  const query = deadLetterQuery(filters, Date.now());
  const narrowed = isNarrowed(query);
  const scope = narrowed ? "all that match the filters" : "all dead letters";

  const showOperation = (operation: Operation) => {
    setBatch(null);
    setSelected(new Set());
    change({ operation: operation.id });
    void queries.invalidateQueries({ queryKey: ["dead-letters"] });
  };
  const { discard, isCounting } = useDiscard(showOperation);
  const picked = useRetrySelected(() => setSelected(new Set()));
  const discarded = useDiscardSelected(() => setSelected(new Set()));
  const chosen = (dead.rows ?? []).filter((row) => selected.has(row.id));

  const columns = rights.operator ? deadLetterColumns : withoutTenant(deadLetterColumns);
  const hasSome = (dead.total?.total ?? dead.rows?.length ?? 0) > 0;
  return (
    <>
      <PageTitle title="Dead letters">
        <StreamBadge state={dead.stream} />
        {rights.admin && (
          <>
            <Button disabled={!hasSome} onClick={() => setBatch(batchFilter(query, Date.now()))}>
              {narrowed ? "Retry matching" : "Retry all"}
            </Button>
            <Button
              variant="default"
              disabled={!hasSome}
              loading={isCounting}
              onClick={() => discard(query, scope)}
            >
              {narrowed ? "Discard matching" : "Discard all"}
            </Button>
          </>
        )}
      </PageTitle>
      <Total total={dead.total} narrowed={narrowed} />
      {filters.operation && (
        <OperationPanel
          id={filters.operation}
          close={() => change({ operation: null })}
          onProgress={dead.reload}
        />
      )}
      <Groups
        by={dead.by}
        groups={dead.groups.data}
        error={dead.groups.error}
        selected={filters[filterOfGroup(dead.by)]}
        changeBy={(by) => change({ by: by === "webhook" ? null : by })}
        select={(key) => change({ [filterOfGroup(dead.by)]: key })}
      />
      <NewRows count={dead.held.newCount} max={pageSize} show={dead.held.showNew} />
      <DataTable
        name="dead-letters"
        label="Dead letters"
        minWidth={1000}
        columns={
          rights.admin ? [...columns, retryColumn(actions.retry, actions.retrying)] : columns
        }
        rows={dead.rows}
        rowKey={(delivery) => delivery.id}
        href={(delivery) => `/deliveries/${delivery.id}`}
        error={dead.list.error}
        retry={() => void dead.list.refetch()}
        selection={rights.admin ? { selected, change: setSelected } : undefined}
        paging={{
          next: dead.list.data?.next_cursor ?? null,
          isFirst: !filters.cursor,
          go: (cursor) => {
            setSelected(new Set());
            change({ cursor });
          },
        }}
        tools={
          <>
            <DeadLetterFilterBar filters={filters} change={change} />
            {rights.admin && (
              <>
                <Button
                  variant="light"
                  disabled={chosen.length === 0 || discarded.isPending}
                  loading={picked.isPending}
                  onClick={() => picked.retry(chosen.map((row) => row.id))}
                >
                  {chosen.length > 0 ? `Retry ${chosen.length} selected` : "Retry selected"}
                </Button>
                <Button
                  variant="default"
                  disabled={chosen.length === 0 || picked.isPending}
                  loading={discarded.isPending}
                  onClick={() => void discarded.discard(chosen)}
                >
                  {chosen.length > 0 ? `Discard ${chosen.length} selected` : "Discard selected"}
                </Button>
              </>
            )}
          </>
        }
        empty={
          narrowed ? (
            <NothingMatches
              what="dead letter"
              filters={filters}
              change={change}
              keep={["by", "operation"]}
            />
          ) : (
            <Empty title="There are no dead letters">
              A delivery becomes a dead letter when its attempts are used up, or when its receiver
              refuses it for good. You can retry it here then.
            </Empty>
          )
        }
      />
      {batch && (
        <BulkRetry
          filter={batch}
          scope={scope}
          close={() => setBatch(null)}
          onStarted={showOperation}
        />
      )}
    </>
  );
}
