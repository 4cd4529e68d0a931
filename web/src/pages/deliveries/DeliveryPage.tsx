import { Paper, Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "wouter";

import { api, body } from "~/api/client.ts";
import { isNotFound } from "~/api/problem.ts";
import { useRights } from "~/api/session.tsx";
import { useStream } from "~/api/stream.ts";
import type { DeliveryDetail } from "~/api/types.ts";
import { BackTo } from "~/ui/BackTo.tsx";
import { LoadProblem } from "~/ui/LoadProblem.tsx";
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
  if (error && (!data || isNotFound(error))) {
    return (
      <LoadProblem
        error={error}
        retry={() => void delivery.refetch()}
        what="delivery"
        why="It may have been removed after the retention time."
        list={{ href: "/deliveries", label: "Show all deliveries" }}
      />
    );
  }
  return (
    <>
      <BackTo href="/deliveries" label="Deliveries" />
      <PageTitle title={data?.event_type ?? "Delivery"}>
        {data && <StreamBadge state={stream} />}
        {data && rights.admin && <DeliveryActions delivery={data} />}
      </PageTitle>
      {error && <Problem error={error} retry={() => void delivery.refetch()} />}
      {!data && <Skeleton height={220} aria-label="Loading the delivery" />}
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
