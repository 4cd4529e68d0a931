import { Anchor, Button, MultiSelect, Paper, Skeleton, Stack, Text, Title } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useLocation, useParams } from "wouter";

import { isNotFound } from "~/api/problem.ts";
import { useRights } from "~/api/session.tsx";
import type { CountedChannel } from "~/api/types.ts";
import { formatCount, formatDuration } from "~/lib/format.ts";
import { BackTo } from "~/ui/BackTo.tsx";
import { Copy, Id } from "~/ui/Copy.tsx";
import { DataTable } from "~/ui/DataTable.tsx";
import { Empty } from "~/ui/Empty.tsx";
import { Facts } from "~/ui/Facts.tsx";
import { useFilters } from "~/ui/filters.ts";
import { LoadProblem } from "~/ui/LoadProblem.tsx";
import { Notice } from "~/ui/Notice.tsx";
import { PageTitle } from "~/ui/PageTitle.tsx";
import { pagingBy } from "~/ui/paging.ts";
import { Time } from "~/ui/Time.tsx";

import { ChannelState, LastSent } from "./channelColumns.tsx";
import { ChannelTest } from "./ChannelTest.tsx";
import { channelKinds, channelPath, notificationTitle, targetWords } from "./channelWords.ts";
import { notificationColumns } from "./notificationColumns.tsx";
import { channelsKey, readNotifications, useChannel, useDeleteChannel } from "./useChannels.ts";

const pageSize = 50;
const refreshMs = 5_000;
const states = ["waiting", "sent", "held_back", "failed"];
const stateChoices = states.map((value) => ({ value, label: value.replace("_", " ") }));

function Notifications({ id }: { id: string }) {
  const rights = useRights();
  const [filters, change] = useFilters(["state", "cursor"]);
  const chosen = (filters.state?.split(",") ?? []).filter((state) => states.includes(state));
  const query = { state: chosen.join(",") || undefined, cursor: filters.cursor, limit: pageSize };
  const list = useQuery({
    queryKey: [...channelsKey, "notifications", id, query],
    queryFn: () => readNotifications(id, query),
    placeholderData: keepPreviousData,
    refetchInterval: filters.cursor ? false : refreshMs,
  });
  return (
    <section aria-labelledby="channel-notifications">
      <Title order={2} size="h4" id="channel-notifications">
        Notifications
      </Title>
      <DataTable
        name="notifications"
        label="Notifications of the channel"
        minWidth={900}
        columns={
          rights.operator
            ? notificationColumns
            : notificationColumns.filter((column) => column.id !== "tenant")
        }
        rows={list.data?.data}
        rowKey={(notification) => notification.id}
        error={list.error}
        retry={() => void list.refetch()}
        paging={pagingBy(list.data, filters, change)}
        tools={
          <MultiSelect
            label="State"
            placeholder={chosen.length > 0 ? undefined : "Any"}
            clearable
            w={200}
            value={chosen}
            onChange={(values) => change({ state: values.join(",") })}
            data={stateChoices}
          />
        }
        empty={
          chosen.length > 0 ? (
            <Empty title="No notification matches">Change or clear the filter.</Empty>
          ) : (
            <Empty title="There are no notifications yet">
              They appear here when an alert is raised. Send a test to see whether one arrives. They
              are kept for 90 days.
            </Empty>
          )
        }
      />
    </section>
  );
}

function webhookList(ids: string[]) {
  return ids.map((id, index) => (
    <span key={id}>
      {index > 0 && ", "}
      <Anchor component={Link} href={`/webhooks/${id}`} className="mono">
        {id}
      </Anchor>
    </span>
  ));
}

function ChannelFacts({ channel }: { channel: CountedChannel }) {
  const rights = useRights();
  const { target, kinds, webhook_ids, notifications } = channel;
  const words = targetWords(channel);
  return (
    <Paper withBorder p="md">
      <Facts
        facts={[
          ["State", <ChannelState key="state" channel={channel} />],
          ["Last sent", <LastSent key="sent" channel={channel} />],
          [
            "Notifications",
            `${formatCount(notifications.sent)} sent, ${formatCount(notifications.waiting)} waiting, ` +
              `${formatCount(notifications.held_back)} held back, ${formatCount(notifications.failed)} failed`,
          ],
          ["Kind", channelKinds[channel.kind].label],
          [
            "Sends to",
            <span key="target">
              {words} {"url" in target && target.url && <Copy text={target.url} what="the URL" />}
            </span>,
          ],
          [
            "Webhook",
            channel.webhook_id && (
              <Anchor component={Link} href={`/webhooks/${channel.webhook_id}`} size="sm">
                Deliveries and secret
              </Anchor>
            ),
          ],
          [
            "Tells about",
            kinds.length === 0 ? "Everything" : kinds.map(notificationTitle).join(", "),
          ],
          ["Lowest severity", channel.severity_min],
          ["Only about", webhook_ids.length > 0 && webhookList(webhook_ids)],
          ["Resolved alerts", channel.send_resolved ? "are told, too" : "are not told"],
          [
            "Grouping",
            channel.group_window_ms === 0
              ? "off"
              : `alerts of one kind within ${formatDuration(channel.group_window_ms)}`,
          ],
          ["Messages an hour", `at most ${formatCount(channel.per_hour_max)}`],
          ["Tenant", rights.operator && (channel.tenant_id ?? "the server")],
          ["Id", <Id key="id" value={channel.id} />],
          ["Changed", <Time key="at" at={channel.updated_at} exact />],
        ].map(([name, value]) => [name as string, value === false ? null : value])}
      />
    </Paper>
  );
}

export default function ChannelPage() {
  const { id = "" } = useParams<{ id: string }>();
  const rights = useRights();
  const [, navigate] = useLocation();
  const read = useChannel(id);
  const remove = useDeleteChannel(() => navigate("/notifications"));
  if (read.error && (!read.data || isNotFound(read.error))) {
    return (
      <LoadProblem
        error={read.error}
        retry={() => void read.refetch()}
        what="channel"
        why="It may have been deleted."
        list={{ href: "/notifications", label: "Show all channels" }}
      />
    );
  }
  if (!read.data) return <Skeleton height={420} aria-label="Loading the channel" />;
  const channel = read.data;
  return (
    <>
      <BackTo href="/notifications" label="Notifications" />
      <PageTitle title={channel.name}>
        {rights.admin && !channel.configured && (
          <>
            <Button variant="default" component={Link} href={`${channelPath(id)}/edit`}>
              Edit
            </Button>
            <Button variant="default" c="var(--status-bad)" onClick={() => void remove(channel)}>
              Delete
            </Button>
          </>
        )}
      </PageTitle>
      <Stack gap="lg">
        {channel.configured && (
          <Notice tone="plain" title="This channel is read-only">
            It comes from the settings of the server,{" "}
            <span className="mono">notification_channels</span>, and is changed there.
          </Notice>
        )}
        {!channel.active && (
          <Notice tone="wait" title="This channel is switched off">
            <Text size="sm">It sends nothing until it is active again.</Text>
          </Notice>
        )}
        <ChannelFacts channel={channel} />
        {rights.admin && <ChannelTest id={id} />}
        <Notifications id={id} />
      </Stack>
    </>
  );
}
