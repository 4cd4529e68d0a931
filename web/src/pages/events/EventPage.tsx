import { Button, Paper, Skeleton, Stack, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "wouter";

import { readEvent } from "~/api/events.ts";
import { useRights } from "~/api/session.tsx";
import { useStream } from "~/api/stream.ts";
import type { EventDetail } from "~/api/types.ts";
import { BackTo } from "~/ui/BackTo.tsx";
import { Code } from "~/ui/Code.tsx";
import { Id } from "~/ui/Copy.tsx";
import { Facts } from "~/ui/Facts.tsx";
import { LoadProblem } from "~/ui/LoadProblem.tsx";
import { PageTitle } from "~/ui/PageTitle.tsx";
import { Time } from "~/ui/Time.tsx";
import { useRefetchSoon } from "~/ui/useRefetchSoon.ts";

import { EventDeliveries } from "./EventDeliveries.tsx";

function EventFacts({ event, operator }: { event: EventDetail; operator: boolean }) {
  return (
    <Paper withBorder p="md">
      <Facts
        facts={[
          ["Id", <Id key="id" value={event.id} />],
          ["Published", <Time key="at" at={event.created_at} exact />],
          ["Happened", <Time key="time" at={event.timestamp} exact />],
          ["Priority", event.priority],
          ["Tenant", operator ? event.tenant_id : null],
          ["Resource", event.resource_id],
          ["Source", event.source],
          ["Ordering key", event.ordering_key],
          [
            "Idempotency key",
            <span key="key" className="mono">
              {event.idempotency_key}
            </span>,
          ],
        ]}
      />
    </Paper>
  );
}

export default function EventPage() {
  const { id = "" } = useParams<{ id: string }>();
  const rights = useRights();
  const read = useQuery({
    queryKey: ["event", id],
    queryFn: () => readEvent(id),
    placeholderData: undefined,
    refetchInterval: (query) => (query.state.data?.event.fanout_remaining ? 2_000 : false),
  });
  const type = read.data?.event.type;
  const soon = useRefetchSoon(() => read.refetch());
  useStream(
    { event_type: type ?? "" },
    (events) => {
      // A replay may have created deliveries of this event.
      const concerns = events.some(
        ({ kind, data }) => kind !== "delivery" || data["event_id"] === id,
      );
      if (concerns) soon();
    },
    type !== undefined,
  );
  if (read.error) {
    return (
      <LoadProblem
        error={read.error}
        retry={() => void read.refetch()}
        what="event"
        why="It may have been removed after the retention time."
        list={{ href: "/events", label: "Show all events" }}
      />
    );
  }
  if (!read.data) return <Skeleton height={320} aria-label="Loading the event" />;
  const { event, dataText, metadataText } = read.data;
  const hasMetadata = Object.keys(event.metadata).length > 0;
  return (
    <>
      <BackTo href="/events" label="Events" />
      <PageTitle title={event.type}>
        {rights.publish && (
          <Button component={Link} variant="default" href={`/events/new?like=${event.id}`}>
            Publish one like this
          </Button>
        )}
      </PageTitle>
      <Stack gap="lg">
        <EventFacts event={event} operator={rights.operator} />
        <EventDeliveries event={event} />
        <section aria-labelledby="event-data">
          <Title order={2} size="h4" id="event-data">
            Data
          </Title>
          <Code text={dataText} label="data" />
        </section>
        {hasMetadata && (
          <section aria-labelledby="event-metadata">
            <Title order={2} size="h4" id="event-metadata">
              Metadata
            </Title>
            <Code text={metadataText} label="metadata" />
          </section>
        )}
      </Stack>
    </>
  );
}
