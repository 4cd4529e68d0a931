import { Anchor, Box, Button, Group, Modal, Stack, Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";

import { api, body } from "~/api/client.ts";
import type { AuditRecord, Page } from "~/api/types.ts";
import { idTarget } from "~/app/idTarget.ts";
import { rangeTimes } from "~/lib/timeRange.ts";
import { Code } from "~/ui/Code.tsx";
import { type Column, DataTable } from "~/ui/DataTable.tsx";
import { Empty } from "~/ui/Empty.tsx";
import { Facts } from "~/ui/Facts.tsx";
import { useFilters } from "~/ui/filters.ts";
import { NothingMatches } from "~/ui/NothingMatches.tsx";
import { PageTitle } from "~/ui/PageTitle.tsx";
import { pagingBy } from "~/ui/paging.ts";
import { TextFilter } from "~/ui/TextFilter.tsx";
import { Time } from "~/ui/Time.tsx";
import { TimeRange } from "~/ui/TimeRange.tsx";

import { useChainCheck } from "./ChainCheck.tsx";

const pageSize = 50;
const names = ["actor", "action", "subject", "tenant_id", "range", "from", "to", "cursor"] as const;

function Subject({ subject }: { subject: string }) {
  const target = idTarget(subject);
  if (!target) return <span className="mono">{subject}</span>;
  return (
    <Anchor component={Link} href={target.path} className="mono">
      {subject}
    </Anchor>
  );
}

const makeColumns = (show: (record: AuditRecord) => void): Column<AuditRecord>[] => [
  {
    id: "at",
    header: "When",
    width: "11rem",
    cell: (record) => <Time at={record.at} exact />,
    value: (record) => record.at,
  },
  {
    id: "actor",
    header: "Who",
    cell: (record) => (
      <div>
        <Text size="sm" className="truncate">
          {record.actor_name || record.actor}
        </Text>
        <Text size="xs" c="dimmed" className="truncate">
          {record.actor}
        </Text>
      </div>
    ),
    value: (record) => record.actor,
  },
  {
    id: "action",
    header: "What",
    width: "10.5rem",
    cell: (record) => <span className="mono">{record.action}</span>,
    value: (record) => record.action,
  },
  {
    id: "subject",
    header: "Subject",
    width: "15.75rem",
    cell: (record) => <Subject subject={record.subject} />,
    value: (record) => record.subject,
  },
  {
    id: "tenant",
    header: "Tenant",
    width: "6.25rem",
    cell: (record) => record.tenant_id ?? "–",
    value: (record) => record.tenant_id,
  },
  {
    id: "address",
    header: "Address",
    width: "6.5rem",
    cell: (record) => record.remote_ip || "–",
    value: (record) => record.remote_ip,
  },
  {
    id: "request",
    header: "Request id",
    hidden: true,
    cell: (record) => <span className="mono">{record.request_id || "–"}</span>,
    value: (record) => record.request_id,
  },
  {
    id: "number",
    header: "Number",
    hidden: true,
    cell: (record) => record.sequence,
    value: (record) => record.sequence,
  },
  {
    id: "detail",
    header: "Details",
    width: "6rem",
    cell: (record) => (
      <Button
        variant="default"
        size="compact-xs"
        aria-label={`Details of entry ${record.sequence}`}
        onClick={() => show(record)}
      >
        Details
      </Button>
    ),
    value: (record) => JSON.stringify(record.detail),
  },
];

function Entry({ record, close }: { record: AuditRecord | null; close: () => void }) {
  return (
    <Modal opened={record !== null} onClose={close} size="lg" title="Entry of the audit log">
      {record && (
        <Stack>
          <Facts
            facts={[
              ["Number", record.sequence],
              ["What", record.action],
              ["Subject", record.subject],
              ["Who", record.actor_name || record.actor],
              ["Address", record.remote_ip],
              ["Request id", record.request_id],
            ]}
          />
          <Code text={JSON.stringify(record.detail)} label="details" />
          <Text size="xs" c="dimmed">
            Hash: <span className="mono">{record.hash}</span>
          </Text>
        </Stack>
      )}
    </Modal>
  );
}

export default function AuditLogPage() {
  const [filters, change] = useFilters(names);
  const [shown, show] = useState<AuditRecord | null>(null);
  const chain = useChainCheck();
  const { range, from, to, ...rest } = filters;
  const query = { ...rest, ...rangeTimes({ range, from, to }, Date.now()), limit: pageSize };
  const list = useQuery({
    queryKey: ["audit-log", filters],
    queryFn: () =>
      body(api.GET("/v1/audit-log", { params: { query } })) as Promise<Page<AuditRecord>>,
    placeholderData: keepPreviousData,
  });
  const text = (name: "actor" | "action" | "subject" | "tenant_id") => ({
    value: filters[name],
    w: 145,
    change: (value: string) => change({ [name]: value }, true),
  });
  return (
    <>
      <PageTitle title="Audit log">{chain.button}</PageTitle>
      <Box mb="md">{chain.outcome}</Box>
      <DataTable
        name="audit-log"
        label="Entries of the audit log"
        columns={makeColumns(show)}
        rows={list.data?.data}
        rowKey={(record) => String(record.sequence)}
        error={list.error}
        retry={() => void list.refetch()}
        paging={pagingBy(list.data, filters, change)}
        tools={
          <Group gap="sm" align="flex-end">
            <TextFilter label="Who" placeholder="key_… or system" {...text("actor")} />
            <TextFilter label="What" placeholder="webhook.create" {...text("action")} />
            <TextFilter label="Subject" placeholder="An id" {...text("subject")} />
            <TextFilter label="Tenant" {...text("tenant_id")} />
            <TimeRange filter={filters} change={change} />
          </Group>
        }
        empty={
          Object.keys(filters).length > 0 ? (
            <NothingMatches what="entry" filters={filters} change={change} />
          ) : (
            <Empty title="The audit log is empty">Every change appears here.</Empty>
          )
        }
      />
      <Entry record={shown} close={() => show(null)} />
    </>
  );
}
