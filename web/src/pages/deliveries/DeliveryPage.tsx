import { Anchor, Paper, Skeleton, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "wouter";

import { api, body } from "~/api/client.ts";
import { ApiProblem } from "~/api/problem.ts";
import { useRights } from "~/api/session.tsx";
import { useStream } from "~/api/stream.ts";
import type { DeliveryDetail } from "~/api/types.ts";
import { Empty } from "~/ui/Empty.tsx";
import { PageTitle } from "~/ui/PageTitle.tsx";
import { Problem } from "~/ui/Problem.tsx";
import { StreamBadge } from "~/ui/StreamBadge.tsx";
import { useRefetchSoon } from "~/ui/useRefetchSoon.ts";

import { Attempts } from "./Attempts.tsx";
import { BlockedPeriods } from "./BlockedPeriods.tsx";
import { DeliveryActions } from "./DeliveryActions.tsx";
import { isFinal } from "./deliveryWords.ts";
import { Facts } from "./Facts.tsx";

/** What blocks a delivery, and whether it is in flight, is not in the stream. */
const pollMs = 3_000;

function useDelivery(id: string) {
  const delivery = useQuery({
    queryKey: ["delivery", id],
    queryFn: () =>
      body(api.GET("/v1/deliveries/{id}", { params: { path: { id } } })) as Promise<DeliveryDetail>,
    placeholderData: undefined, // Never the delivery that was shown before.
    refetchInterval: ({ state }) => (state.data && !isFinal(state.data.status) ? pollMs : false),
  });
  const soon = useRefetchSoon(() => delivery.refetch());
  const webhook = delivery.data?.webhook_id;
  const stream = useStream(
    webhook ? { webhook_id: webhook } : {},
    (events) => {
      const concerns = events.some(({ kind, data }) =>
        kind === "delivery" ? data["delivery_id"] === id : kind !== "created",
      );
      if (concerns) soon();
    },
    webhook !== undefined,
  );
  return { delivery, stream };
}

export default function DeliveryPage() {
  const { id = "" } = useParams();
  const rights = useRights();
  const { delivery, stream } = useDelivery(id);
  const { data, error } = delivery;
  if (error instanceof ApiProblem && error.status === 404) {
    return (
      <Empty title="There is no such delivery">
        It may have been removed after the retention time.{" "}
        <Anchor component={Link} href="/deliveries">
          Show all deliveries
        </Anchor>
      </Empty>
    );
  }
  return (
    <>
      <Text size="sm" mb={4}>
        <Anchor component={Link} href="/deliveries" size="sm">
          Deliveries
        </Anchor>
      </Text>
      <PageTitle title={<span className="wrap-anywhere">{data?.event_type ?? "Delivery"}</span>}>
        {data && <StreamBadge state={stream} />}
        {data && rights.admin && <DeliveryActions delivery={data} />}
      </PageTitle>
      {error && <Problem error={error} retry={() => void delivery.refetch()} />}
      {!data && !error && <Skeleton height={220} aria-label="Loading the delivery" />}
      {data && (
        <>
          <Paper withBorder p="md">
            <Facts delivery={data} />
          </Paper>
          <BlockedPeriods periods={data.blocked_by} />
          <Attempts delivery={data} />
        </>
      )}
    </>
  );
}
