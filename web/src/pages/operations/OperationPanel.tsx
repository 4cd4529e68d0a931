import { Button, CloseButton, Group, Paper, Text } from "@mantine/core";
import { useDidUpdate } from "@mantine/hooks";

import { useRights } from "~/api/session.tsx";
import { Problem } from "~/ui/Problem.tsx";
import { Status } from "~/ui/Status.tsx";

import { OperationProgress, Outcomes } from "./OperationProgress.tsx";
import { isActive, kindWords } from "./operationWords.ts";
import { useCancelOperation, useOperation } from "./useOperations.ts";

interface Properties {
  id: string;
  close: () => void;
  onProgress: () => void; // Something has moved.
}

/** An operation that the visitor has started: its progress, then its outcome. */
export function OperationPanel({ id, close, onProgress }: Properties) {
  const rights = useRights();
  const operation = useOperation(id);
  const cancel = useCancelOperation();
  const { data } = operation;
  const moved = data ? `${data.status} ${data.done} ${data.waiting}` : "";
  useDidUpdate(onProgress, [moved]);
  return (
    <Paper
      withBorder
      p="md"
      mb="md"
      mih={132}
      component="section"
      aria-label="Operation"
      data-operation={data?.status}
    >
      {operation.error && <Problem error={operation.error} />}
      <Group justify="space-between" mb="sm">
        <Group gap="sm">
          <Text fw={600}>{data ? kindWords(data.kind) : "Operation"}</Text>
          {data && <Status value={data.status} />}
        </Group>
        <Group gap="xs">
          {data && rights.admin && isActive(data) && (
            <Button size="xs" variant="default" onClick={() => void cancel(data)}>
              Cancel operation
            </Button>
          )}
          <CloseButton aria-label="Hide this operation" onClick={close} />
        </Group>
      </Group>
      {data && (
        <>
          <OperationProgress operation={data} />
          {data.error && (
            <Text size="sm" c="var(--status-bad)">
              {data.error}
            </Text>
          )}
          <Outcomes operation={data} />
        </>
      )}
    </Paper>
  );
}
