import { Button, Group, Modal, Select, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, body } from "~/api/client.ts";
import type { CircuitDetail } from "~/api/types.ts";
import { notifyDone, Problem } from "~/ui/Problem.tsx";

import { webhookKey } from "./queries.ts";

type Action = "reset" | "force_open" | "force_close";

const durations = [
  { value: "900", label: "15 minutes" },
  { value: "3600", label: "1 hour" },
  { value: "86400", label: "1 day" },
  { value: "", label: "Until it is reset" },
];

const texts: Record<Action, { title: string; effect: string; button: string; done: string }> = {
  reset: {
    title: "Reset the circuit?",
    effect:
      "The circuit closes and forgets the failures it has counted. Waiting deliveries are sent. If the receiver still fails, the circuit opens again.",
    button: "Reset circuit",
    done: "The circuit is reset.",
  },
  force_open: {
    title: "Force the circuit open?",
    effect: "Nothing is sent to this webhook. Its deliveries wait and use no attempts.",
    button: "Force open",
    done: "The circuit is forced open.",
  },
  force_close: {
    title: "Force the circuit closed?",
    effect:
      "Everything is sent, also while the receiver fails. Failed attempts are counted and can lead to dead letters.",
    button: "Force closed",
    done: "The circuit is forced closed.",
  },
};

function useCommand(id: string, onDone: () => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ action, seconds }: { action: Action; seconds: string }) =>
      body(
        api.PATCH("/v1/webhooks/{id}/circuit-breaker", {
          params: { path: { id } },
          body: {
            action,
            ...(action !== "reset" && seconds ? { duration_seconds: Number(seconds) } : {}),
          },
        }),
      ),
    onSuccess: (_, { action }) => {
      notifyDone(texts[action].done);
      onDone();
    },
    onSettled: () => queries.invalidateQueries({ queryKey: webhookKey(id) }),
  });
}

export function CircuitActions({ id, circuit }: { id: string; circuit: CircuitDetail }) {
  const [asked, setAsked] = useState<Action | null>(null);
  const [seconds, setSeconds] = useState("3600");
  const command = useCommand(id, () => setAsked(null));
  const text = asked ? texts[asked] : null;
  const ask = (action: Action) => {
    command.reset();
    setAsked(action);
  };
  return (
    <>
      <Group mt="md" gap="xs">
        <Button variant="default" size="xs" onClick={() => ask("reset")}>
          Reset
        </Button>
        {circuit.forced !== "open" && (
          <Button variant="default" size="xs" onClick={() => ask("force_open")}>
            Force open
          </Button>
        )}
        {circuit.forced !== "closed" && (
          <Button variant="default" size="xs" onClick={() => ask("force_close")}>
            Force closed
          </Button>
        )}
      </Group>
      <Modal opened={asked !== null} onClose={() => setAsked(null)} title={text?.title}>
        <Stack>
          <Text size="sm">{text?.effect}</Text>
          {asked !== "reset" && (
            <Select
              label="How long"
              data={durations}
              value={seconds}
              onChange={(value) => setSeconds(value ?? "")}
              allowDeselect={false}
            />
          )}
          {command.error && <Problem error={command.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setAsked(null)}>
              Cancel
            </Button>
            <Button
              loading={command.isPending}
              onClick={() => asked && command.mutate({ action: asked, seconds })}
            >
              {text?.button}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
