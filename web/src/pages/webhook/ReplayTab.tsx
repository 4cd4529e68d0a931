import { Anchor, Button, Group, Paper, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";

import { countReplay, type ReplayRequest, startReplay } from "~/api/replay.ts";
import type { Webhook } from "~/api/types.ts";
import { formatCount } from "~/lib/format.ts";
import { useFilters } from "~/ui/filters.ts";
import { Notice } from "~/ui/Notice.tsx";
import { useTimeZone } from "~/ui/preferences.ts";
import { Problem } from "~/ui/Problem.tsx";

import { firstForm, type ReplayForm, toRequest } from "./replayForm.ts";
import { ReplayFields } from "./ReplayFields.tsx";
import { ReplayProgress } from "./ReplayProgress.tsx";

interface Counted {
  request: ReplayRequest;
  count: number;
  more: boolean;
}

function useReplay(id: string, onStarted: (operation: string) => void) {
  const count = useMutation({
    mutationFn: async (request: ReplayRequest): Promise<Counted> => {
      // Without an end, events that are published after the count would be replayed too.
      const bounded = { ...request, until: request.until ?? new Date().toISOString() };
      const { count, more } = await countReplay(id, bounded);
      return { request: bounded, count, more };
    },
  });
  const start = useMutation({
    mutationFn: (request: ReplayRequest) => startReplay(id, request),
    onSuccess: (operation) => {
      count.reset();
      onStarted(operation.id);
    },
  });
  return { count, start };
}

const countWords = ({ count, more }: Counted) =>
  `${more ? "At least " : ""}${formatCount(count)} ${count === 1 ? "delivery" : "deliveries"}`;

export function ReplayTab({ hook }: { hook: Webhook }) {
  const [zone] = useTimeZone();
  const [filters, change] = useFilters(["since", "operation"]);
  const [form, setForm] = useState<ReplayForm>(() => firstForm(filters.since, Date.now(), zone));
  const { count, start } = useReplay(hook.id, (operation) => change({ operation }, true));
  const request = toRequest(form, zone);
  const edit = (changes: Partial<ReplayForm>) => {
    setForm({ ...form, ...changes });
    count.reset(); // The count was of something else.
    start.reset();
  };
  const counted = count.data;
  const error = count.error ?? start.error;
  return (
    <Stack gap="md" maw={720}>
      <Text size="sm" c="dimmed">
        Sends again what was published within a period, as far as it matches this webhook now.
        Events that it missed, for example while it was disabled, are sent too. Test sends are left
        out.
      </Text>
      {!hook.active && (
        <Notice tone="wait" title="The webhook is not active">
          Activate it to replay.
        </Notice>
      )}
      <ReplayFields form={form} edit={edit} />
      {typeof request === "string" && (
        <Text size="sm" c="var(--status-bad)" role="alert">
          {request}
        </Text>
      )}
      {error && <Problem error={error} />}
      <Group mih={36}>
        <Button
          variant={counted ? "default" : "filled"}
          loading={count.isPending}
          disabled={typeof request === "string"}
          onClick={() => typeof request !== "string" && count.mutate(request)}
        >
          Count
        </Button>
        {counted && (
          <>
            <Text size="sm" fw={600} role="status">
              {countWords(counted)} would be sent.
            </Text>
            {counted.count > 0 && (
              <Button loading={start.isPending} onClick={() => start.mutate(counted.request)}>
                Replay {countWords(counted).toLowerCase()}
              </Button>
            )}
          </>
        )}
      </Group>
      {filters.operation && (
        <Paper withBorder p="md">
          <ReplayProgress id={filters.operation} webhookId={hook.id} />
          <Anchor component={Link} href="/operations" size="sm">
            All operations
          </Anchor>
        </Paper>
      )}
    </Stack>
  );
}
