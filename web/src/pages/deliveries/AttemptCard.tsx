import { Group, Paper, SimpleGrid, Text, UnstyledButton } from "@mantine/core";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";

import type { Attempt, DeliveryDetail } from "~/api/types.ts";
import { toCurl } from "~/lib/curl.ts";
import { formatMs } from "~/lib/waterfall.ts";
import { Copy } from "~/ui/Copy.tsx";
import { Status } from "~/ui/Status.tsx";
import { Time } from "~/ui/Time.tsx";

import { resultOf } from "./deliveryWords.ts";
import { fullRequest, lacksSecrets, requestMessage, responseMessage } from "./httpMessage.ts";
import { Message } from "./Message.tsx";
import { Waterfall } from "./Waterfall.tsx";

const triggers: Record<Attempt["trigger"], string> = {
  scheduled: "on schedule",
  manual: "retried by hand",
  replay: "replayed",
  test: "test send",
};

function Details({ attempt, delivery }: { attempt: Attempt; delivery: DeliveryDetail }) {
  const request = fullRequest(attempt, delivery);
  const of = `of attempt ${attempt.number}`;
  return (
    <>
      {attempt.error_message && (
        <Text size="sm" c="var(--status-bad)" mt="sm" className="wrap-anywhere">
          {attempt.error_message}
        </Text>
      )}
      <Text size="xs" c="dimmed" mt="xs">
        Due <Time at={attempt.scheduled_at} exact /> · sent <Time at={attempt.executed_at} exact />
        {attempt.remote_ip && ` · to ${attempt.remote_ip}`}
        {attempt.next_retry_at && (
          <>
            {" "}
            · next retry planned for <Time at={attempt.next_retry_at} exact />
          </>
        )}
      </Text>
      <Waterfall attempt={attempt} />
      <SimpleGrid cols={{ base: 1, md: 2 }} mt="md">
        <Message
          title="Request"
          what={`request ${of}`}
          message={request && requestMessage(request)}
          missing="No request was sent, or it is no longer kept."
        >
          {request && (
            <Group mt="xs" gap="xs">
              <Copy text={toCurl(request)} what="the curl command" label="Copy as curl" />
              {lacksSecrets(request) && (
                <Text size="xs" c="dimmed">
                  The signature and credentials are not kept. Fill them in before you send it.
                </Text>
              )}
            </Group>
          )}
        </Message>
        <Message
          title="Response"
          what={`response ${of}`}
          message={responseMessage(attempt)}
          missing="The receiver did not answer."
        />
      </SimpleGrid>
    </>
  );
}

interface Properties {
  attempt: Attempt;
  delivery: DeliveryDetail;
  opened: boolean;
  toggle: () => void;
}

/** One attempt of the timeline. Its details are drawn when they are opened. */
export function AttemptCard({ attempt, delivery, opened, toggle }: Properties) {
  const Icon = opened ? IconChevronDown : IconChevronRight;
  const id = `attempt-${attempt.number}`;
  return (
    <Paper withBorder p="sm" component="li" data-attempt={attempt.number}>
      <UnstyledButton w="100%" onClick={toggle} aria-expanded={opened} aria-controls={id}>
        <Group gap="sm">
          <Icon size={16} />
          <Text fw={600}>Attempt {attempt.number}</Text>
          <Status value={attempt.status} />
          <Text size="sm">{resultOf(attempt)}</Text>
          <Text size="sm" c="dimmed">
            {formatMs(attempt.duration_ms)}
          </Text>
          <Text size="sm" c="dimmed" ml="auto">
            {triggers[attempt.trigger]}, <Time at={attempt.executed_at} />
          </Text>
        </Group>
      </UnstyledButton>
      <div id={id}>{opened && <Details attempt={attempt} delivery={delivery} />}</div>
    </Paper>
  );
}
