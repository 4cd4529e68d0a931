import { Anchor, Button, Drawer, Group, Stack, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";

import { api, body } from "~/api/client.ts";
import { useRights } from "~/api/session.tsx";
import type { AuditRecord, Operation, Page } from "~/api/types.ts";
import { Id } from "~/ui/Copy.tsx";
import { Problem } from "~/ui/Problem.tsx";
import { Status } from "~/ui/Status.tsx";
import { Time } from "~/ui/Time.tsx";

import { OperationProgress, Outcomes } from "./OperationProgress.tsx";
import { filterWords, isActive, kindWords, paceWords } from "./operationWords.ts";
import { useCancelOperation, useOperation } from "./useOperations.ts";

/** The audit log knows who started it. Only admins of the operator may read it. */
function StartedBy({ id }: { id: string }) {
  const records = useQuery({
    queryKey: ["operation-started", id],
    queryFn: () =>
      body(api.GET("/v1/audit-log", { params: { query: { subject: id, limit: 50 } } })) as Promise<
        Page<AuditRecord>
      >,
    placeholderData: undefined,
  });
  const first = records.data?.data.at(-1); // Newest first.
  return <>{first ? first.actor_name || first.actor : "–"}</>;
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Table.Tr>
      <Table.Th scope="row" w="9rem" fw={500}>
        {name}
      </Table.Th>
      <Table.Td className="wrap-anywhere">{children}</Table.Td>
    </Table.Tr>
  );
}

function Facts({ operation }: { operation: Operation }) {
  const rights = useRights();
  const { webhook_ids } = operation.filter;
  const hook = webhook_ids?.length === 1 ? webhook_ids[0] : undefined;
  return (
    <Table withRowBorders={false} verticalSpacing={4}>
      <Table.Tbody>
        <Fact name="Id">
          <Id value={operation.id} />
        </Fact>
        <Fact name="Covers">{filterWords(operation.filter)}</Fact>
        {hook && (
          <Fact name="Webhook">
            <Anchor component={Link} href={`/webhooks/${hook}`} size="sm">
              Show the webhook
            </Anchor>
          </Fact>
        )}
        <Fact name="Pace">{paceWords(operation)}</Fact>
        <Fact name="Priority">{operation.priority ?? "unchanged"}</Fact>
        {rights.operator && <Fact name="Tenant">{operation.tenant_id ?? "–"}</Fact>}
        {rights.operator && rights.admin && (
          <Fact name="Started by">
            <StartedBy id={operation.id} />
          </Fact>
        )}
        <Fact name="Created">
          <Time at={operation.created_at} exact />
        </Fact>
        <Fact name="Started">
          <Time at={operation.started_at ?? operation.start_at} exact />
        </Fact>
        <Fact name="All requeued">
          <Time at={operation.requeue_finished_at} exact />
        </Fact>
        <Fact name="Finished">
          <Time at={operation.finished_at} exact />
        </Fact>
      </Table.Tbody>
    </Table>
  );
}

/** Everything about one operation. */
export function OperationDrawer({ id, close }: { id: string | undefined; close: () => void }) {
  const rights = useRights();
  const operation = useOperation(id);
  const cancel = useCancelOperation();
  const data = id === undefined ? undefined : operation.data;
  return (
    <Drawer
      opened={id !== undefined}
      onClose={close}
      position="right"
      size="lg"
      title={data ? kindWords(data.kind) : "Operation"}
    >
      {operation.error && <Problem error={operation.error} />}
      {data && (
        <Stack>
          <Group justify="space-between">
            <Status value={data.status} />
            {rights.admin && isActive(data) && (
              <Button size="xs" variant="default" onClick={() => void cancel(data)}>
                Cancel operation
              </Button>
            )}
          </Group>
          <OperationProgress operation={data} />
          {data.error && <Text c="var(--status-bad)">{data.error}</Text>}
          <Outcomes operation={data} />
          <Facts operation={data} />
        </Stack>
      )}
    </Drawer>
  );
}
