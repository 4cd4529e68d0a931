// Notification channels of the API, and what can be done with them.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { api, body } from "~/api/client.ts";
import { useRights } from "~/api/session.tsx";
import { readSettings } from "~/api/settings.ts";
import type {
  CountedChannel,
  Delivery,
  Notification,
  NotificationChannel,
  Page,
  Webhook,
} from "~/api/types.ts";
import { plainName } from "~/lib/plainName.ts";
import { useConfirm } from "~/ui/confirm.tsx";
import { notifyDone, notifyProblem } from "~/ui/Problem.tsx";

import {
  type ChannelHealth,
  mailHealth,
  type TestOutcome,
  testWords,
  webhookHealth,
} from "./channelWords.ts";

export const channelsKey = ["notification-channels"] as const;
const refreshMs = 15_000;
/** Notifications that tell whether mails are sent. */
const recentMax = 10;
const testPollMs = 1_000;

type NotificationQuery = { state?: string; cursor?: string; limit: number };

export const readNotifications = (id: string, query: NotificationQuery) =>
  body(
    api.GET("/v1/notification-channels/{id}/notifications", { params: { path: { id }, query } }),
  ) as Promise<Page<Notification>>;

export const readChannel = (id: string) =>
  body(
    api.GET("/v1/notification-channels/{id}", { params: { path: { id } } }),
  ) as Promise<CountedChannel>;

export function useChannel(id: string) {
  return useQuery({
    queryKey: [...channelsKey, "one", id],
    queryFn: () => readChannel(id),
    placeholderData: undefined,
    refetchInterval: refreshMs,
  });
}

async function readHealth(channel: NotificationChannel): Promise<ChannelHealth> {
  if (channel.webhook_id) {
    const path = { id: channel.webhook_id };
    return webhookHealth(
      (await body(api.GET("/v1/webhooks/{id}", { params: { path } }))) as Webhook,
    );
  }
  const recent = await readNotifications(channel.id, {
    state: "sent,failed,waiting",
    limit: recentMax,
  });
  return mailHealth(recent.data);
}

/** Whether messages arrive. */
export function useHealth(channel: NotificationChannel) {
  return useQuery({
    queryKey: [...channelsKey, "health", channel.id],
    queryFn: () => readHealth(channel),
    refetchInterval: refreshMs,
    placeholderData: undefined,
  });
}

/** False: mails cannot be sent. Undefined: not known; only admins of the operator see settings. */
export function useMailServer(): boolean | undefined {
  const rights = useRights();
  const settings = useQuery({
    queryKey: ["settings"],
    queryFn: readSettings,
    enabled: rights.operator && rights.admin,
    staleTime: 60_000,
  });
  const server = settings.data?.data.find(({ name }) => name === "smtp.server");
  return server && server.value !== "";
}

/** Asks, and deletes the channel. */
export function useDeleteChannel(onDone: () => void) {
  const confirm = useConfirm();
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: ({ id }: NotificationChannel) =>
      body(api.DELETE("/v1/notification-channels/{id}", { params: { path: { id } } })),
    onSuccess: (_, { name }) => {
      notifyDone(`The channel ${plainName(name)} is deleted.`);
      onDone();
      // Not what is known about the channel itself, which its page would read again.
      void queries.invalidateQueries({ queryKey: [...channelsKey, "list"] });
      void queries.invalidateQueries({ queryKey: ["webhooks"] });
    },
    onError: notifyProblem,
  });
  return async (channel: NotificationChannel) => {
    const yes = await confirm({
      title: `Delete ${plainName(channel.name)}?`,
      action: "Delete channel",
      consequences:
        "It sends nothing more. What is waiting is not sent, and its list of notifications is " +
        `deleted${channel.webhook_id ? ", as is its webhook" : ""}. This cannot be undone.`,
    });
    if (yes) remove.mutate(channel);
  };
}

async function readOutcome(first: Notification): Promise<TestOutcome> {
  let notification = first;
  if (first.state === "waiting") {
    const page = await readNotifications(first.channel_id, { limit: recentMax });
    notification = page.data.find(({ id }) => id === first.id) ?? first;
  }
  const { event_id } = notification;
  if (!event_id) return { notification, delivery: null };
  const found = (await body(
    api.GET("/v1/deliveries", { params: { query: { event_id, limit: 1 } } }),
  )) as Page<Delivery>;
  return { notification, delivery: found.data[0] ?? null };
}

/** Sends a test and follows it until its result is known. */
export function useChannelTest(id: string) {
  const queries = useQueryClient();
  const send = useMutation({
    mutationFn: () =>
      body(
        api.POST("/v1/notification-channels/{id}/test", { params: { path: { id } } }),
      ) as Promise<Notification>,
    onSettled: () => queries.invalidateQueries({ queryKey: channelsKey }),
  });
  const sent = send.data;
  const outcome = useQuery({
    queryKey: ["channel-test", sent?.id],
    queryFn: () => readOutcome(sent as Notification),
    enabled: sent !== undefined,
    placeholderData: undefined,
    staleTime: 0,
    refetchInterval: ({ state }) =>
      state.data && testWords(state.data).isFinal ? false : testPollMs,
  });
  return { send, outcome };
}
