import { Anchor, Skeleton, Text } from "@mantine/core";
import { Link } from "wouter";

import type { WebhookHours } from "~/api/webhookStats.ts";
import { formatCount, formatDuration, formatShare } from "~/lib/format.ts";
import type { Column } from "~/ui/DataTable.tsx";
import { Sparkline } from "~/ui/Sparkline.tsx";
import { Status } from "~/ui/Status.tsx";

import type { Row } from "./webhookList.ts";
import { webhookState } from "./webhookState.ts";

/** undefined: still loading. null: cannot be loaded. */
export type Hours = Map<string, WebhookHours> | null | undefined;

const sum = (hours: WebhookHours, name: "succeeded" | "failed") =>
  hours.buckets.reduce((total, bucket) => total + bucket[name], 0);

function LastDay({ row, hours }: { row: Row; hours: Hours }) {
  if (hours === undefined) return <Skeleton height={24} width={96} />;
  const own = hours?.get(row.hook.id);
  if (!own) return <>–</>;
  const [succeeded, failed] = [sum(own, "succeeded"), sum(own, "failed")];
  const label =
    succeeded + failed === 0
      ? "No attempts in 24 hours"
      : `${formatCount(succeeded)} succeeded, ${formatCount(failed)} failed in 24 hours`;
  return <Sparkline buckets={own.buckets} label={label} />;
}

function SuccessRate({ share }: { share: number | null | undefined }) {
  if (share === null || share === undefined) return <>–</>;
  const color = share >= 0.99 ? "good" : share >= 0.9 ? "wait" : "bad";
  return (
    <Text span size="sm" c={`var(--status-${color})`}>
      {formatShare(share)}
    </Text>
  );
}

function Name({ row: { hook } }: { row: Row }) {
  return (
    <div>
      <Anchor component={Link} href={`/webhooks/${hook.id}`} className="truncate" display="block">
        {hook.name ?? hook.id}
      </Anchor>
      <Text size="xs" c="dimmed" className="truncate" title={hook.url}>
        {hook.url}
      </Text>
    </div>
  );
}

const fixed: Record<string, Column<Row>> = {
  name: {
    id: "name",
    header: "Webhook",
    width: "14rem",
    cell: (row) => <Name row={row} />,
    value: ({ hook }) => hook.name ?? hook.id,
  },
  state: {
    id: "state",
    header: "State",
    width: "6rem",
    cell: ({ hook }) => <Status value={webhookState(hook)} />,
    value: ({ hook }) => webhookState(hook),
  },
  circuit: {
    id: "circuit",
    header: "Circuit",
    width: "6.5rem",
    cell: ({ hook }) => (hook.circuit ? <Status value={hook.circuit.state} /> : "–"),
    value: ({ hook }) => hook.circuit?.state ?? null,
  },
  events: {
    id: "events",
    header: "Events",
    width: "8rem",
    cell: ({ hook }) => (
      <Text span className="mono truncate" display="block" title={hook.events.join(", ")}>
        {hook.events.join(", ")}
      </Text>
    ),
    value: ({ hook }) => hook.events.join(" "),
  },
  tenant: {
    id: "tenant",
    header: "Tenant",
    width: "6.5rem",
    cell: ({ hook }) => (
      <Text span size="sm" className="truncate" display="block">
        {hook.tenant_id ?? "–"}
      </Text>
    ),
    value: ({ hook }) => hook.tenant_id,
  },
  id: {
    id: "id",
    header: "Id",
    hidden: true,
    cell: ({ hook }) => <span className="mono">{hook.id}</span>,
    value: ({ hook }) => hook.id,
  },
  url: {
    id: "url",
    header: "URL",
    hidden: true,
    cell: ({ hook }) => <span className="mono">{hook.url}</span>,
    value: ({ hook }) => hook.url,
  },
};

/** `worst`: the list is sorted by the success rate of deliveries. */
export function makeColumns(operator: boolean, hours: Hours, worst: boolean): Column<Row>[] {
  const day: Column<Row> = {
    id: "day",
    header: "Last 24 hours",
    width: "7.75rem",
    cell: (row) => <LastDay row={row} hours={hours} />,
    value: (row) => {
      const own = hours?.get(row.hook.id);
      return own ? sum(own, "succeeded") + sum(own, "failed") : null;
    },
  };
  // The list of the worst has the rate of deliveries, as the overview. The hours know attempts only.
  const rate = (row: Row) =>
    worst ? row.ranking?.delivery_success_rate : hours?.get(row.hook.id)?.success_rate;
  const success: Column<Row> = {
    id: "rate",
    header: worst ? "Success rate" : "Attempt success",
    width: worst ? "8.75rem" : "9.25rem",
    sort: "worst",
    cell: (row) => <SuccessRate share={rate(row)} />,
    value: (row) => rate(row) ?? null,
  };
  const time: Column<Row> = {
    id: "p95",
    header: "Response time (p95)",
    width: "6.75rem",
    cell: (row) => formatDuration(row.ranking?.duration_ms?.p95),
    value: (row) => row.ranking?.duration_ms?.p95 ?? null,
  };
  const names = ["name", "state", "circuit", "events", "tenant", "id", "url"];
  const left = operator ? [] : ["tenant"];
  const shown = names.filter((name) => !left.includes(name));
  const columns = shown.map((name) => fixed[name]).filter((column) => column !== undefined);
  columns.splice(3, 0, day, success, ...(worst ? [time] : []));
  return columns;
}
