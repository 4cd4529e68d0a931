import { Button, Paper, PasswordInput, Select, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, body } from "~/api/client.ts";
import { fieldMessages } from "~/api/problem.ts";
import type { components } from "#contract";
import type { Webhook } from "~/api/types.ts";
import { useConfirm } from "~/ui/confirm.tsx";
import { notifyDone, Problem } from "~/ui/Problem.tsx";

import { webhookKey } from "./queries.ts";

export type Rotated = components["schemas"]["RotatedSecret"];

const graces = [
  { value: "0", label: "None: the old secret ends now" },
  { value: "3600", label: "1 hour" },
  { value: "86400", label: "1 day" },
  { value: "604800", label: "1 week" },
];

function useRotate(id: string, onRotated: (answer: Rotated) => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ grace, own }: { grace: string; own: string }) =>
      body(
        api.POST("/v1/webhooks/{id}/secret/rotate", {
          params: { path: { id } },
          body: { grace_period_seconds: Number(grace), ...(own ? { secret: own } : {}) },
        }),
      ),
    onSuccess: (answer) => {
      notifyDone("The secret is rotated.");
      onRotated(answer);
      void queries.invalidateQueries({ queryKey: webhookKey(id) });
    },
    gcTime: 0,
  });
}

interface Properties {
  hook: Webhook;
  onRotated: (answer: Rotated) => void;
}

export function RotateForm({ hook, onRotated }: Properties) {
  const confirm = useConfirm();
  const [grace, setGrace] = useState("86400");
  const [own, setOwn] = useState("");
  const rotate = useRotate(hook.id, (answer) => {
    setOwn("");
    onRotated(answer);
  });
  const askAndRotate = async () => {
    const consequences =
      grace === "0"
        ? "The old secret ends at once. A receiver that does not have the new one refuses every request until it gets it."
        : "Requests are signed with both secrets during the grace period. Give the new one to the receiver in this time.";
    const question = { title: "Rotate the secret?", consequences, action: "Rotate secret" };
    if (await confirm(question)) rotate.mutate({ grace, own });
  };
  return (
    <Paper withBorder p="md">
      <Stack gap="sm">
        <Title order={2} size="h5">
          Rotate
        </Title>
        <Text size="sm" c="dimmed">
          A new secret takes the place of this one. During the grace period both sign, so that the
          receiver can change without losing a request.
        </Text>
        <Select
          label="Grace period"
          data={graces}
          value={grace}
          onChange={(value) => setGrace(value ?? "86400")}
          allowDeselect={false}
        />
        <PasswordInput
          label="Your own secret"
          description="Leave it empty and the server makes one."
          autoComplete="off"
          value={own}
          error={fieldMessages(rotate.error)["secret"]}
          onChange={(event) => setOwn(event.currentTarget.value)}
        />
        {rotate.error && <Problem error={rotate.error} />}
        <div>
          <Button loading={rotate.isPending} onClick={() => void askAndRotate()}>
            Rotate secret
          </Button>
        </div>
      </Stack>
    </Paper>
  );
}
