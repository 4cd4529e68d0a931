import { Anchor, Button, Text, Tooltip } from "@mantine/core";
import { Link } from "wouter";

import type { Delivery } from "~/api/types.ts";
import { formatDuration, formatWord } from "~/lib/format.ts";
import type { Column } from "~/ui/DataTable.tsx";
import { Status } from "~/ui/Status.tsx";
import { Time } from "~/ui/Time.tsx";

import { attemptsOf, nextOf, offersRetry, resultOf, webhookLabel } from "./deliveryWords.ts";

function Result({ delivery }: { delivery: Delivery }) {
  const text = resultOf(delivery);
  if (text === null) return <>–</>;
  const color = delivery.failure_category ? "var(--status-bad)" : "var(--status-good)";
  const cell = (
    <Text size="sm" c={color} className="truncate">
      {text}
    </Text>
  );
  if (!delivery.last_error) return cell;
  return (
    <Tooltip label={delivery.last_error} multiline maw={420}>
      {cell}
    </Tooltip>
  );
}

/** The next retry, or what blocks the delivery and until when. */
function NextCell({ delivery }: { delivery: Delivery }) {
  const next = nextOf(delivery);
  if (!next) {
    const reason = delivery.dead_letter?.reason;
    return (
      <Text size="sm" c="dimmed" lh={1.2} lineClamp={2}>
        {reason ? formatWord(reason) : "–"}
      </Text>
    );
  }
  return (
    <>
      <Text size="sm" lh={1.2} lineClamp={next.at ? 1 : 2} title={next.words}>
        {next.words}
      </Text>
      {next.at && (
        <Text size="xs" lh={1.2} c="dimmed" className="truncate">
          {delivery.blocked ? "ends " : ""}
          <Time at={next.at} />
        </Text>
      )}
    </>
  );
}

export const nextColumn: Column<Delivery> = {
  id: "next",
  header: "Next",
  width: "10rem",
  cell: (delivery) => <NextCell delivery={delivery} />,
  value: (delivery) => {
    const next = nextOf(delivery);
    return next ? `${next.words} ${next.at ?? ""}`.trim() : (delivery.dead_letter?.reason ?? null);
  },
};

export const deliveryColumns: Column<Delivery>[] = [
  {
    id: "status",
    header: "Status",
    width: "7.2rem",
    cell: (delivery) => <Status value={delivery.status} />,
    value: (delivery) => delivery.status,
  },
  {
    id: "event_type",
    header: "Event type",
    cell: (delivery) => (
      <Anchor
        component={Link}
        href={`/deliveries/${delivery.id}`}
        className="truncate"
        display="block"
        size="sm"
        title={delivery.event_type}
      >
        {delivery.event_type}
      </Anchor>
    ),
    value: (delivery) => delivery.event_type,
  },
  {
    id: "webhook",
    header: "Webhook",
    cell: (delivery) => (
      <Anchor
        component={Link}
        href={`/webhooks/${delivery.webhook_id}`}
        className="truncate"
        display="block"
        size="sm"
        title={delivery.webhook_url ?? "This webhook was deleted."}
      >
        {webhookLabel(delivery)}
      </Anchor>
    ),
    value: webhookLabel,
  },
  {
    id: "attempts",
    header: "Attempts",
    width: "5.4rem",
    cell: (delivery) => (
      <Tooltip label={`${delivery.attempts_total} in total`}>
        <span>{attemptsOf(delivery)}</span>
      </Tooltip>
    ),
    value: attemptsOf,
  },
  {
    id: "last_attempt",
    header: "Last attempt",
    width: "7.2rem",
    cell: (delivery) => <Time at={delivery.last_attempt_at} />,
    value: (delivery) => delivery.last_attempt_at,
  },
  {
    id: "result",
    header: "Result",
    width: "9.2rem",
    cell: (delivery) => <Result delivery={delivery} />,
    value: resultOf,
  },
  {
    id: "duration",
    header: "Duration",
    width: "5.4rem",
    cell: (delivery) => formatDuration(delivery.last_duration_ms),
    value: (delivery) => delivery.last_duration_ms,
  },
  nextColumn,
  {
    id: "tenant",
    header: "Tenant",
    width: "7rem",
    hidden: true,
    cell: (delivery) => <span className="truncate">{delivery.tenant_id ?? "–"}</span>,
    value: (delivery) => delivery.tenant_id,
  },
  {
    id: "created",
    header: "Created",
    width: "7rem",
    hidden: true,
    cell: (delivery) => <Time at={delivery.created_at} />,
    value: (delivery) => delivery.created_at,
  },
  {
    id: "id",
    header: "Id",
    hidden: true,
    cell: (delivery) => <span className="mono">{delivery.id}</span>,
    value: (delivery) => delivery.id,
  },
];

export const withoutTenant = (columns: Column<Delivery>[]) =>
  columns.filter((column) => column.id !== "tenant");

/** A button in each row that a retry may help. */
export function retryColumn(retry: (id: string) => void, busy: string | null): Column<Delivery> {
  return {
    id: "retry",
    header: "Action",
    width: "5.8rem",
    isAction: true,
    cell: (delivery) =>
      offersRetry(delivery) && (
        <Button
          size="compact-sm"
          variant="light"
          loading={busy === delivery.id}
          aria-label={`Retry ${delivery.event_type} to ${webhookLabel(delivery)}`}
          onClick={() => retry(delivery.id)}
        >
          Retry
        </Button>
      ),
    value: () => null,
  };
}
