import { Anchor, Text } from "@mantine/core";
import { Link } from "wouter";

import type { Notification } from "~/api/types.ts";
import { formatCount } from "~/lib/format.ts";
import type { Column } from "~/ui/DataTable.tsx";
import { Status } from "~/ui/Status.tsx";
import { Time } from "~/ui/Time.tsx";

import { notificationTitle } from "./channelWords.ts";

const titleOf = ({ kind, transition }: Notification) =>
  transition === "resolved" ? `${notificationTitle(kind)}: resolved` : notificationTitle(kind);

function Reason({ notification }: { notification: Notification }) {
  const { state, attempts, last_error, next_attempt_at } = notification;
  return (
    <div>
      <Text size="sm" lh={1.25} style={{ overflowWrap: "anywhere" }}>
        {last_error ?? "–"}
      </Text>
      {state === "waiting" && next_attempt_at && (
        <Text size="xs" c="dimmed">
          {attempts > 0 && `${formatCount(attempts)} failed, `}next <Time at={next_attempt_at} />
        </Text>
      )}
    </div>
  );
}

function About({ notification }: { notification: Notification }) {
  const { webhook_id, webhook_name, webhook_url, operation_id, source } = notification;
  if (webhook_id) {
    return (
      <Anchor
        component={Link}
        href={`/webhooks/${webhook_id}`}
        className="truncate"
        display="block"
        size="sm"
      >
        {webhook_name ?? webhook_url ?? webhook_id}
      </Anchor>
    );
  }
  if (operation_id) {
    return (
      <Anchor component={Link} href={`/operations?operation=${encodeURIComponent(operation_id)}`}>
        Operation
      </Anchor>
    );
  }
  return <>{source ?? "–"}</>;
}

export const notificationColumns: Column<Notification>[] = [
  {
    id: "kind",
    header: "Notification",
    width: "30%",
    cell: (notification) => (
      <div>
        <Text size="sm" fw={600}>
          {titleOf(notification)}
        </Text>
        <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
          {notification.detail}
        </Text>
      </div>
    ),
    value: titleOf,
  },
  {
    id: "severity",
    header: "Severity",
    width: "7rem",
    hidden: true,
    cell: (notification) => <Status value={notification.severity} />,
    value: (notification) => notification.severity,
  },
  {
    id: "state",
    header: "State",
    width: "7rem",
    cell: (notification) => <Status value={notification.state} />,
    value: (notification) => notification.state,
  },
  {
    id: "reason",
    header: "Reason",
    width: "24%",
    cell: (notification) => <Reason notification={notification} />,
    value: (notification) => notification.last_error,
  },
  {
    id: "about",
    header: "About",
    cell: (notification) => <About notification={notification} />,
    value: (notification) => notification.webhook_name ?? notification.webhook_id,
  },
  {
    id: "tenant",
    header: "Tenant",
    hidden: true,
    cell: (notification) => notification.tenant_id ?? "–",
    value: (notification) => notification.tenant_id,
  },
  {
    id: "attempts",
    header: "Attempts",
    width: "6rem",
    hidden: true,
    cell: (notification) => formatCount(notification.attempts),
    value: (notification) => notification.attempts,
  },
  {
    id: "made",
    header: "Created",
    width: "7rem",
    cell: (notification) => <Time at={notification.made_at} />,
    value: (notification) => notification.made_at,
  },
  {
    id: "sent",
    header: "Sent",
    width: "7rem",
    cell: (notification) =>
      notification.event_id && notification.sent_at ? (
        <Anchor component={Link} href={`/events/${notification.event_id}`} size="sm">
          <Time at={notification.sent_at} />
        </Anchor>
      ) : (
        <Time at={notification.sent_at} />
      ),
    value: (notification) => notification.sent_at,
  },
];
