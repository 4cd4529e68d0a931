import { Anchor, Badge, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";

import type { NotificationChannel } from "~/api/types.ts";
import { formatCount } from "~/lib/format.ts";
import type { Column } from "~/ui/DataTable.tsx";
import { Status } from "~/ui/Status.tsx";
import { Time } from "~/ui/Time.tsx";

import {
  channelKinds,
  channelPath,
  choiceWords,
  notificationTitle,
  targetWords,
} from "./channelWords.ts";
import { channelsKey, readChannel, useHealth } from "./useChannels.ts";

const states = { working: "active", failing: "failed", unused: "unused" };
const stateWords = { working: "working", failing: "failing", unused: "nothing sent yet" };

/** Whether the channel is switched on and its messages arrive. */
export function ChannelState({ channel }: { channel: NotificationChannel }) {
  const { data } = useHealth(channel);
  if (!channel.active) return <Status value="inactive" />;
  if (!data) return <Text span>…</Text>;
  return (
    <div>
      <Status value={states[data.state]} label={stateWords[data.state]} />
      {data.error && (
        <Text size="xs" className="truncate" title={data.error}>
          {data.error}
        </Text>
      )}
    </div>
  );
}

export function LastSent({ channel }: { channel: NotificationChannel }) {
  const { data } = useHealth(channel);
  if (!data) return <Text span>…</Text>;
  return data.lastSentAt ? (
    <Time at={data.lastSentAt} />
  ) : (
    <Text span size="sm">
      never
    </Text>
  );
}

function Counts({ channel }: { channel: NotificationChannel }) {
  const { data } = useQuery({
    queryKey: [...channelsKey, "one", channel.id],
    queryFn: () => readChannel(channel.id),
  });
  if (!data) return <Text span>…</Text>;
  const { sent, waiting, held_back, failed } = data.notifications;
  const rest = [
    waiting > 0 && `${formatCount(waiting)} waiting`,
    held_back > 0 && `${formatCount(held_back)} held back`,
    failed > 0 && `${formatCount(failed)} failed`,
  ].filter(Boolean);
  return (
    <div>
      <Text size="sm">{formatCount(sent)} sent</Text>
      {rest.length > 0 && (
        <Text size="xs" c="dimmed">
          {rest.join(", ")}
        </Text>
      )}
    </div>
  );
}

export const channelColumns: Column<NotificationChannel>[] = [
  {
    id: "name",
    header: "Channel",
    width: "20%",
    cell: (channel) => (
      <div>
        <Anchor
          component={Link}
          href={channelPath(channel.id)}
          className="truncate"
          display="block"
          size="sm"
          title={channel.name}
        >
          {channel.name}
        </Anchor>
        <Group gap={4}>
          <Text size="xs" c="dimmed">
            {channelKinds[channel.kind].label}
          </Text>
          {channel.configured && (
            <Badge size="xs" variant="default" tt="none">
              from the settings
            </Badge>
          )}
        </Group>
      </div>
    ),
    value: (channel) => channel.name,
  },
  {
    id: "kind",
    header: "Kind",
    hidden: true,
    cell: (channel) => channelKinds[channel.kind].label,
    value: (channel) => channel.kind,
  },
  {
    id: "target",
    header: "Sends to",
    width: "18%",
    cell: (channel) => (
      <Text size="sm" className="truncate" title={targetWords(channel)}>
        {targetWords(channel)}
      </Text>
    ),
    value: targetWords,
  },
  {
    id: "choice",
    header: "Tells about",
    cell: (channel) => (
      <Text
        size="sm"
        lh={1.25}
        lineClamp={2}
        title={channel.kinds.map(notificationTitle).join(", ") || undefined}
      >
        {choiceWords(channel)}
      </Text>
    ),
    value: choiceWords,
  },
  {
    id: "tenant",
    header: "Tenant",
    width: "8rem",
    cell: (channel) => channel.tenant_id ?? "the server",
    value: (channel) => channel.tenant_id,
  },
  {
    id: "state",
    header: "State",
    width: "10rem",
    cell: (channel) => <ChannelState channel={channel} />,
    value: (channel) => (channel.active ? "active" : "inactive"),
  },
  {
    id: "sent",
    header: "Last sent",
    width: "7rem",
    cell: (channel) => <LastSent channel={channel} />,
    value: () => null,
  },
  {
    id: "counts",
    header: "Notifications",
    width: "9rem",
    cell: (channel) => <Counts channel={channel} />,
    value: () => null,
  },
];
