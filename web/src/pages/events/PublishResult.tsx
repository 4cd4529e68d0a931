import { Anchor, Group, Text } from "@mantine/core";
import { Link } from "wouter";

import { useRights } from "~/api/session.tsx";
import { formatCount } from "~/lib/format.ts";
import { Id } from "~/ui/Copy.tsx";
import { Notice } from "~/ui/Notice.tsx";

interface Published {
  id: string;
  deliveries: number;
  duplicate: boolean;
}

function words({ deliveries, duplicate }: Published): string {
  if (duplicate) {
    return "An event with this idempotency key was published before. Nothing new was published.";
  }
  if (deliveries === 0) return "It is stored, but no webhook wants it. Nothing will be sent.";
  return deliveries === 1
    ? "It is on its way to one webhook."
    : `It is on its way to ${formatCount(deliveries)} webhooks.`;
}

export function PublishResult({ type, result }: { type: string; result: Published }) {
  const rights = useRights();
  const good = !result.duplicate && result.deliveries > 0;
  return (
    <Notice
      tone={good ? "good" : "wait"}
      role="status"
      title={result.duplicate ? "Already published" : `${type} is published`}
    >
      <Text size="sm">{words(result)}</Text>
      <Text size="sm">
        <Id value={result.id} />
      </Text>
      {rights.read && (
        <Group gap="md" mt="xs">
          <Anchor component={Link} href={`/events/${result.id}`} size="sm">
            See the event
          </Anchor>
          {result.deliveries > 0 && (
            <Anchor component={Link} href={`/deliveries?event_id=${result.id}`} size="sm">
              See its deliveries
            </Anchor>
          )}
        </Group>
      )}
    </Notice>
  );
}
