import { Anchor, Group, Text, Title } from "@mantine/core";
import { Link } from "wouter";

import type { Delivery, EventDetail } from "~/api/types.ts";
import { formatCount } from "~/lib/format.ts";
import { nextColumn } from "~/pages/deliveries/deliveryColumns.tsx";
import { attemptsOf, webhookLabel } from "~/pages/deliveries/deliveryWords.ts";
import { type Column, DataTable } from "~/ui/DataTable.tsx";
import { Empty } from "~/ui/Empty.tsx";
import { Status } from "~/ui/Status.tsx";
import { Time } from "~/ui/Time.tsx";

const answerOf = (delivery: Delivery) =>
  delivery.last_error ?? (delivery.http_status === null ? null : `HTTP ${delivery.http_status}`);

const columns: Column<Delivery>[] = [
  {
    id: "webhook",
    header: "Webhook",
    width: "28%",
    cell: (delivery) => (
      <div>
        <Anchor
          component={Link}
          href={`/webhooks/${delivery.webhook_id}`}
          className="truncate"
          display="block"
        >
          {webhookLabel(delivery)}
        </Anchor>
        <Text size="xs" c="dimmed" className="truncate">
          {delivery.webhook_url ?? "The webhook was deleted"}
        </Text>
      </div>
    ),
    value: webhookLabel,
  },
  {
    id: "status",
    header: "Status",
    width: "8rem",
    cell: (delivery) => <Status value={delivery.status} />,
    value: (delivery) => delivery.status,
  },
  {
    id: "attempts",
    header: "Attempts",
    width: "6rem",
    cell: attemptsOf,
    value: attemptsOf,
  },
  {
    id: "answer",
    header: "Last answer",
    cell: (delivery) => <span className="truncate">{answerOf(delivery) ?? "–"}</span>,
    value: answerOf,
  },
  {
    id: "last",
    header: "Last attempt",
    width: "8rem",
    cell: (delivery) => <Time at={delivery.last_attempt_at} />,
    value: (delivery) => delivery.last_attempt_at,
  },
  nextColumn,
  {
    id: "delivery",
    header: "Delivery",
    width: "6rem",
    cell: (delivery) => (
      <Anchor
        component={Link}
        href={`/deliveries/${delivery.id}`}
        aria-label={`Details of delivery ${delivery.id}`}
      >
        Details
      </Anchor>
    ),
    value: (delivery) => delivery.id,
  },
];

/** What the event became: one delivery for every webhook that matched. */
export function EventDeliveries({ event }: { event: EventDetail }) {
  return (
    <section aria-labelledby="event-deliveries">
      <Group justify="space-between" align="baseline">
        <Title order={2} size="h4" id="event-deliveries">
          Deliveries
        </Title>
        <Anchor component={Link} href={`/deliveries?event_id=${event.id}`} size="sm">
          Show in deliveries
        </Anchor>
      </Group>
      {event.fanout_remaining > 0 && (
        <Text size="sm" c="dimmed">
          {formatCount(event.fanout_remaining)} more deliveries are being made.
        </Text>
      )}
      <DataTable
        name="event-deliveries"
        label="Deliveries of this event"
        columns={columns}
        rows={event.deliveries}
        rowKey={(delivery) => delivery.id}
        href={(delivery) => `/deliveries/${delivery.id}`}
        empty={
          <Empty title="No webhook wanted this event">
            Its type, tenant, resource or data did not match any active webhook when it was
            published.{" "}
            <Anchor component={Link} href="/webhooks">
              See the webhooks
            </Anchor>
          </Empty>
        }
      />
      {event.deliveries_next_cursor && (
        <Text size="sm">
          These are the first {event.deliveries.length}.{" "}
          <Anchor component={Link} href={`/deliveries?event_id=${event.id}`}>
            Show all deliveries
          </Anchor>
        </Text>
      )}
    </section>
  );
}
