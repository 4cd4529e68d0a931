import { Anchor, SimpleGrid, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "wouter";

import { useRights } from "~/api/session.tsx";
import type { DeliveryDetail } from "~/api/types.ts";
import { formatWord } from "~/lib/format.ts";
import { Id } from "~/ui/Copy.tsx";
import { Status } from "~/ui/Status.tsx";
import { Time } from "~/ui/Time.tsx";

import { attemptsOf, nextOf, webhookLabel } from "./deliveryWords.ts";

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <Text component="dt" size="xs" c="dimmed">
        {name}
      </Text>
      <Text component="dd" size="sm" m={0} mih={22} className="wrap-anywhere">
        {children}
      </Text>
    </div>
  );
}

function NextFact({ delivery }: { delivery: DeliveryDetail }) {
  const next = nextOf(delivery);
  if (!next) {
    if (!delivery.dead_letter) return <Fact name="Next">Nothing, it is finished</Fact>;
    const { reason, classification } = delivery.dead_letter;
    return (
      <Fact name="Reason">
        {formatWord(reason)} ({classification})
      </Fact>
    );
  }
  if (!delivery.blocked) {
    return (
      <Fact name={next.at ? next.words : "Now"}>
        {next.at ? (
          <>
            <Time at={next.at} /> (<Time at={next.at} exact />)
          </>
        ) : (
          next.words
        )}
      </Fact>
    );
  }
  return (
    <Fact name="Blocked">
      {next.words}
      {next.at && (
        <>
          , ends <Time at={next.at} />
        </>
      )}
    </Fact>
  );
}

/** What a delivery is, at a glance. */
export function Facts({ delivery }: { delivery: DeliveryDetail }) {
  const rights = useRights();
  return (
    <SimpleGrid component="dl" cols={{ base: 1, xs: 2, md: 3, xl: 4 }} spacing="md" m={0}>
      <Fact name="Status">
        <Status value={delivery.status} />
      </Fact>
      <Fact name="Attempts">
        {attemptsOf(delivery)}
        {delivery.attempts_total !== delivery.attempt_count &&
          ` (${delivery.attempts_total} in total)`}
      </Fact>
      <NextFact delivery={delivery} />
      <Fact name="Last attempt">
        <Time at={delivery.last_attempt_at} />
      </Fact>
      <Fact name="Webhook">
        <Anchor component={Link} href={`/webhooks/${delivery.webhook_id}`} size="sm">
          {webhookLabel(delivery)}
        </Anchor>
        <br />
        <Text span size="xs" c="dimmed">
          {delivery.webhook_url ?? "This webhook was deleted."}
        </Text>
      </Fact>
      <Fact name="Event">
        <Anchor component={Link} href={`/events/${delivery.event_id}`} size="sm" className="mono">
          {delivery.event_id}
        </Anchor>
      </Fact>
      <Fact name="Delivery id">
        <Id value={delivery.id} />
      </Fact>
      {rights.operator && <Fact name="Tenant">{delivery.tenant_id ?? "–"}</Fact>}
      <Fact name="Priority">{delivery.priority}</Fact>
      <Fact name="Created">
        <Time at={delivery.created_at} exact />
      </Fact>
      <Fact name="Finished">
        <Time at={delivery.completed_at} exact />
      </Fact>
    </SimpleGrid>
  );
}
