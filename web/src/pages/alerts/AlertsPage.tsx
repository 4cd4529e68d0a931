import { Anchor, Button, Group, SegmentedControl, Select, Text } from "@mantine/core";
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "wouter";

import { api, body } from "~/api/client.ts";
import { useRights } from "~/api/session.tsx";
import { useStream } from "~/api/stream.ts";
import type { Alert, Page } from "~/api/types.ts";
import { type Column, DataTable } from "~/ui/DataTable.tsx";
import { Empty } from "~/ui/Empty.tsx";
import { useFilters } from "~/ui/filters.ts";
import { PageTitle } from "~/ui/PageTitle.tsx";
import { pagingBy } from "~/ui/paging.ts";
import { Status } from "~/ui/Status.tsx";
import { Time } from "~/ui/Time.tsx";
import { WebhookPicker } from "~/ui/WebhookPicker.tsx";

import { kindChoices, wordsOf } from "./alertKinds.ts";

const pageSize = 50;
const names = ["status", "kind", "webhook_id", "tenant_id", "cursor"] as const;

function NextStep({ alert }: { alert: Alert }) {
  const { next, link } = wordsOf(alert.kind);
  return (
    <Text size="sm">
      {next}{" "}
      {link && (
        <Anchor component={Link} href={link.path(alert)} size="sm">
          {link.label}
        </Anchor>
      )}
    </Text>
  );
}

const columns: Column<Alert>[] = [
  {
    id: "severity",
    header: "Severity",
    width: "7rem",
    cell: (alert) => <Status value={alert.severity} />,
    value: (alert) => alert.severity,
  },
  {
    id: "alert",
    header: "Alert",
    width: "28%",
    cell: (alert) => (
      <div>
        <Text size="sm" fw={600}>
          {wordsOf(alert.kind).title}
        </Text>
        <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
          {alert.detail}
        </Text>
      </div>
    ),
    value: (alert) => alert.detail,
  },
  {
    id: "next",
    header: "What to do next",
    width: "22%",
    cell: (alert) => <NextStep alert={alert} />,
    value: (alert) => wordsOf(alert.kind).next,
  },
  {
    id: "webhook",
    header: "Webhook",
    width: "7.5rem",
    cell: (alert) =>
      alert.webhook_id ? (
        <Anchor
          component={Link}
          href={`/webhooks/${alert.webhook_id}`}
          className="truncate"
          display="block"
        >
          {alert.webhook_name ?? alert.webhook_url ?? alert.webhook_id}
        </Anchor>
      ) : (
        "–"
      ),
    value: (alert) => alert.webhook_name ?? alert.webhook_id,
  },
  {
    id: "tenant",
    header: "Tenant",
    hidden: true,
    cell: (alert) => alert.tenant_id ?? "–",
    value: (alert) => alert.tenant_id,
  },
  {
    id: "raised",
    header: "Raised",
    width: "7rem",
    cell: (alert) => <Time at={alert.raised_at} />,
    value: (alert) => alert.raised_at,
  },
  {
    id: "resolved",
    header: "Resolved",
    width: "7rem",
    cell: (alert) =>
      alert.resolved_at ? <Time at={alert.resolved_at} /> : <Status value="open" label="active" />,
    value: (alert) => alert.resolved_at,
  },
];

/** `active` unless the address says otherwise. */
const statuses = { active: "active", resolved: "resolved", all: undefined } as const;
type Shown = keyof typeof statuses;

function NoAlerts({ shown, isFiltered }: { shown: Shown; isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No alert matches">Change or clear the filters.</Empty>;
  return shown === "active" ? (
    <Empty title="Nothing needs attention">
      Alerts appear here when webhooks fail, circuits open or dead letters pile up. They go away by
      themselves when the reason is gone.
    </Empty>
  ) : (
    <Empty title="There are no alerts">Resolved alerts are kept for 90 days.</Empty>
  );
}

export default function AlertsPage() {
  const rights = useRights();
  const [filters, change] = useFilters(names);
  const shown: Shown =
    filters.status === "resolved" || filters.status === "all" ? filters.status : "active";
  const queries = useQueryClient();
  const list = useQuery({
    queryKey: ["alerts", filters],
    queryFn: () =>
      body(
        api.GET("/v1/alerts", {
          params: { query: { ...filters, status: statuses[shown], limit: pageSize } },
        }),
      ) as Promise<Page<Alert>>,
    placeholderData: keepPreviousData,
  });
  useStream({}, (events) => {
    if (events.some(({ kind }) => kind === "alert" || kind === "reset")) {
      void queries.invalidateQueries({ queryKey: ["alerts"] });
    }
  });
  return (
    <>
      <PageTitle title="Alerts">
        <Button variant="default" component={Link} href="/notifications">
          Notification channels
        </Button>
      </PageTitle>
      <DataTable
        name="alerts"
        label="Alerts"
        columns={rights.operator ? columns : columns.filter((column) => column.id !== "tenant")}
        rows={list.data?.data}
        rowKey={(alert) => alert.id}
        error={list.error}
        retry={() => void list.refetch()}
        paging={pagingBy(list.data, filters, change)}
        tools={
          <Group gap="sm" align="flex-end">
            <SegmentedControl
              aria-label="Which alerts"
              value={shown}
              onChange={(status) => change({ status: status === "active" ? null : status })}
              data={[
                { value: "active", label: "Active" },
                { value: "resolved", label: "Past" },
                { value: "all", label: "All" },
              ]}
            />
            <Select
              label="Kind"
              placeholder="Any"
              clearable
              searchable
              w={220}
              value={filters.kind ?? null}
              onChange={(kind) => change({ kind })}
              data={kindChoices(rights.operator)}
            />
            <WebhookPicker
              value={filters.webhook_id}
              change={(webhook_id) => change({ webhook_id })}
            />
          </Group>
        }
        empty={
          <NoAlerts
            shown={shown}
            isFiltered={Object.keys(filters).some((name) => name !== "status")}
          />
        }
      />
    </>
  );
}
