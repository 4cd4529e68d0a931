import { Anchor, Button, Group, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link } from "wouter";

import { useCatalogue } from "~/api/catalogue.ts";
import { sendTest, type TestAnswer } from "~/api/testSend.ts";
import type { Webhook } from "~/api/types.ts";
import { formatDuration } from "~/lib/format.ts";
import { Code } from "~/ui/Code.tsx";
import { Notice } from "~/ui/Notice.tsx";
import { Problem } from "~/ui/Problem.tsx";

import { exampleOf } from "./usePreview.ts";

function Outcome({ answer: { attempt, delivery_id } }: { answer: TestAnswer }) {
  const isGood = attempt?.status === "succeeded";
  const done = isGood ? "The receiver accepted the test event" : "The test event failed";
  const title = attempt ? done : "The test event waits";
  return (
    <Stack gap="xs">
      <Notice role="status" tone={!attempt ? "wait" : isGood ? "good" : "bad"} title={title}>
        {attempt?.http_status
          ? `The receiver answered ${attempt.http_status} after ${formatDuration(attempt.duration_ms)}. `
          : attempt && `${attempt.error_message ?? ""} `}
        <Anchor component={Link} href={`/deliveries/${delivery_id}`} c="inherit" underline="always">
          Open the delivery
        </Anchor>
      </Notice>
      {!isGood && attempt?.response_sample && (
        <Code text={attempt.response_sample} label="response body" />
      )}
    </Stack>
  );
}

/** Sends a test event and shows the answer. */
export function TestSend({ webhook }: { webhook: Webhook }) {
  const catalogue = useCatalogue();
  const example = exampleOf({ type: null, data: null }, webhook.events, catalogue.data ?? []);
  const send = useMutation({
    mutationFn: () => sendTest(webhook.id, example.type, example.data),
  });
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <Button
          variant="default"
          loading={send.isPending || catalogue.isPending}
          onClick={() => send.mutate()}
        >
          Send a test event
        </Button>
        <Text size="sm" c="dimmed">
          An event of the type <span className="mono">{example.type}</span> goes to the receiver at
          once.
        </Text>
      </Group>
      {send.error && <Problem error={send.error} />}
      {send.data && <Outcome answer={send.data} />}
    </Stack>
  );
}
