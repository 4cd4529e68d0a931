import { Anchor, Group, Stack, Text, Title } from "@mantine/core";
import { Link } from "wouter";

import type { TestAnswer } from "~/api/testSend.ts";
import type { Attempt } from "~/api/types.ts";
import { formatDuration, formatWord } from "~/lib/format.ts";
import { timingWords } from "~/lib/waterfall.ts";
import { Code } from "~/ui/Code.tsx";
import { FactList } from "~/ui/FactList.tsx";
import { Status } from "~/ui/Status.tsx";

const headerLines = (headers: Record<string, string>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");

function AttemptFacts({ attempt }: { attempt: Attempt }) {
  return (
    <FactList
      items={[
        ["Status", attempt.http_status ?? "no answer"],
        ["Duration", formatDuration(attempt.duration_ms)],
        ["Timing", timingWords(attempt.timings)],
        ["Address", attempt.remote_ip],
        [
          "Failure",
          attempt.failure_category
            ? `${formatWord(attempt.failure_category)}: ${attempt.error_message ?? ""}`
            : undefined,
        ],
      ]}
    />
  );
}

export function TestResult({ answer }: { answer: TestAnswer }) {
  const { attempt, delivery_id } = answer;
  const link = (
    <Anchor component={Link} href={`/deliveries/${delivery_id}`} size="sm">
      Open the delivery
    </Anchor>
  );
  if (!attempt) {
    return (
      <Stack gap="xs">
        <Text size="sm">
          The attempt was not made in time. The delivery shows what becomes of it.
        </Text>
        {link}
      </Stack>
    );
  }
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Group gap="xs">
          <Title order={2} size="h5">
            Answer
          </Title>
          <Status value={attempt.status} />
        </Group>
        {link}
      </Group>
      <AttemptFacts attempt={attempt} />
      <Text fw={600} size="sm">
        Response headers
      </Text>
      <Code text={headerLines(attempt.response_headers)} label="response headers" />
      <Text fw={600} size="sm">
        Response body
      </Text>
      {attempt.response_sample ? (
        <Code text={attempt.response_sample} label="response body" />
      ) : (
        <Text size="sm" c="dimmed">
          Empty.
        </Text>
      )}
      {attempt.request?.body !== undefined && (
        <>
          <Text fw={600} size="sm">
            Request body
          </Text>
          <Code text={attempt.request.body} label="request body" />
        </>
      )}
    </Stack>
  );
}
