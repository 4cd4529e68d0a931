import { Button, Group, Progress, Skeleton, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { api, body } from "~/api/client.ts";
import type { Operation } from "~/api/types.ts";
import { formatCount } from "~/lib/format.ts";
import { notifyProblem, Problem } from "~/ui/Problem.tsx";
import { Status } from "~/ui/Status.tsx";
import { Time } from "~/ui/Time.tsx";

import { webhookKey } from "./queries.ts";
import { isOver, outcomesOf, progressOf } from "./replayOutcome.ts";

const pollMs = 1_000;
function Outcome({ operation }: { operation: Operation }) {
  return (
    <Text size="sm" className="numbers">
      {outcomesOf(operation)
        .map(([name, count]) => `${formatCount(count)} ${name}`)
        .join(" · ")}
    </Text>
  );
}

export function ReplayProgress({ id, webhookId }: { id: string; webhookId: string }) {
  const queries = useQueryClient();
  const params = { path: { id } };
  const operation = useQuery({
    queryKey: [...webhookKey(webhookId), "operation", id],
    queryFn: () => body(api.GET("/v1/operations/{id}", { params })),
    refetchInterval: ({ state }) => (isOver(state.data) ? false : pollMs),
  });
  const cancel = useMutation({
    mutationFn: () => body(api.POST("/v1/operations/{id}/cancel", { params })),
    onError: notifyProblem,
    onSettled: () => queries.invalidateQueries({ queryKey: webhookKey(webhookId) }),
  });
  if (operation.error) return <Problem error={operation.error} />;
  const data = operation.data;
  if (!data) return <Skeleton height={96} />;
  return (
    <section aria-label="Progress of the replay">
      <Group justify="space-between" mb="xs">
        <Group gap="xs">
          <Title order={2} size="h5">
            Replay
          </Title>
          <Status value={data.status} />
        </Group>
        {!isOver(data) && (
          <Button
            size="xs"
            variant="default"
            loading={cancel.isPending}
            onClick={() => cancel.mutate()}
          >
            Cancel the rest
          </Button>
        )}
      </Group>
      <Progress value={progressOf(data)} aria-label="Progress" mb="xs" />
      <Outcome operation={data} />
      <Text size="sm" c="dimmed">
        {data.total === null ? "Counting" : `${formatCount(data.total)} in all`}
        {data.eta && (
          <>
            {", done "}
            <Time at={data.eta} />
          </>
        )}
      </Text>
      {data.error && (
        <Text size="sm" c="var(--status-bad)">
          {data.error}
        </Text>
      )}
    </section>
  );
}
