import { Anchor, Center, Loader } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useLocation, useParams } from "wouter";

import { api, body } from "~/api/client.ts";
import { plainName } from "~/lib/plainName.ts";
import { Empty } from "~/ui/Empty.tsx";
import { allowLeaving } from "~/ui/leaveGuard.ts";
import { PageTitle } from "~/ui/PageTitle.tsx";
import { notifyDone, Problem } from "~/ui/Problem.tsx";

import { ChannelForm } from "./ChannelForm.tsx";
import { type ChannelValues, readChangedChannel } from "./channelInput.ts";
import { channelPath } from "./channelWords.ts";
import { channelsKey, readChannel } from "./useChannels.ts";

export default function EditChannelPage() {
  const { id = "" } = useParams<{ id: string }>();
  const [, navigate] = useLocation();
  const queries = useQueryClient();
  // The form starts from what was stored when it was opened, and from nothing else.
  const stored = useQuery({
    queryKey: ["channel-to-edit", id],
    queryFn: () => readChannel(id),
    staleTime: Infinity,
    gcTime: 0,
    refetchOnReconnect: false,
    refetchOnWindowFocus: false,
  });
  const change = async (values: ChannelValues, start: ChannelValues) => {
    const { input } = readChangedChannel(values, start);
    await body(
      api.PATCH("/v1/notification-channels/{id}", { params: { path: { id } }, body: input }),
    );
    void queries.invalidateQueries({ queryKey: channelsKey });
    notifyDone("The channel is saved.");
    allowLeaving();
    navigate(channelPath(id));
  };
  if (stored.error) return <Problem error={stored.error} retry={() => void stored.refetch()} />;
  if (!stored.data) {
    return (
      <Center h={240}>
        <Loader role="status" aria-label="Loading the channel" />
      </Center>
    );
  }
  if (stored.data.configured) {
    return (
      <Empty title="This channel is read-only">
        It comes from the settings of the server and is changed there.{" "}
        <Anchor component={Link} href={channelPath(id)}>
          Show the channel
        </Anchor>
      </Empty>
    );
  }
  return (
    <>
      <PageTitle title={`Edit ${plainName(stored.data.name)}`} />
      <ChannelForm existing={stored.data} save={change} cancel={channelPath(id)} />
    </>
  );
}
