import { Anchor, Button, Stack, Text } from "@mantine/core";
import { Link } from "wouter";

import { Notice } from "~/ui/Notice.tsx";
import { Problem } from "~/ui/Problem.tsx";

import { type TestOutcome, testWords } from "./channelWords.ts";
import { useChannelTest } from "./useChannels.ts";

function Outcome({ outcome }: { outcome: TestOutcome }) {
  const { tone, title, text } = testWords(outcome);
  return (
    <Notice tone={tone} title={title} role="status">
      <Text size="sm" className="wrap-anywhere">
        {text}
      </Text>
      {outcome.delivery && (
        <Anchor
          component={Link}
          href={`/deliveries/${outcome.delivery.id}`}
          size="sm"
          c="inherit"
          underline="always"
        >
          Open the delivery
        </Anchor>
      )}
    </Notice>
  );
}

/** A button that sends a test message, and what became of it. */
export function ChannelTest({ id }: { id: string }) {
  const { send, outcome } = useChannelTest(id);
  const shown =
    outcome.data ?? (send.data ? { notification: send.data, delivery: null } : undefined);
  return (
    <Stack gap="sm" align="flex-start">
      <Button
        variant="default"
        loading={send.isPending}
        onClick={() => {
          send.mutate();
        }}
      >
        Send a test
      </Button>
      {send.error && <Problem error={send.error} />}
      {!send.isPending && shown && <Outcome outcome={shown} />}
      {outcome.error && <Problem error={outcome.error} retry={() => void outcome.refetch()} />}
    </Stack>
  );
}
