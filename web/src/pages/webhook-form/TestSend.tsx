import { Button, Group, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";

import { useCatalogue } from "~/api/catalogue.ts";
import { api, body } from "~/api/client.ts";
import type { Webhook } from "~/api/types.ts";
import { formatDuration } from "~/lib/format.ts";
import { Notice } from "~/ui/Notice.tsx";
import { Problem } from "~/ui/Problem.tsx";

import { exampleOf } from "./usePreview.ts";

/** Sends a test event and shows the answer. */
export function TestSend({ webhook }: { webhook: Webhook }) {
  const catalogue = useCatalogue();
  const example = exampleOf({ type: null, data: null }, webhook.events, catalogue.data ?? []);
  const event_type = example.type;
  const send = useMutation({
    mutationFn: () =>
      body(
        api.POST("/v1/webhooks/{id}/test", {
          params: { path: { id: webhook.id } },
          body: { event_type, data: JSON.parse(example.data) as unknown },
        }),
      ),
  });
  const attempt = send.data && "attempt" in send.data ? send.data.attempt : undefined;
  const isGood = attempt?.status === "succeeded";
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <Button variant="default" loading={send.isPending} onClick={() => send.mutate()}>
          Send a test event
        </Button>
        <Text size="sm" c="dimmed">
          An event of the type <span className="mono">{event_type}</span> goes to the receiver at
          once.
        </Text>
      </Group>
      {send.error && <Problem error={send.error} />}
      {send.data && !attempt && (
        <Notice role="status" tone="wait" title="The test event waits">
          The page of the webhook shows its delivery.
        </Notice>
      )}
      {attempt && (
        <Notice
          role="status"
          tone={isGood ? "good" : "bad"}
          title={isGood ? "The receiver accepted the test event" : "The test event failed"}
        >
          {attempt.http_status
            ? `The receiver answered ${attempt.http_status} after ${formatDuration(attempt.duration_ms)}.`
            : attempt.error_message}
        </Notice>
      )}
    </Stack>
  );
}
