import { Anchor, Button, Select, Stack, Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "wouter";

import { api, body } from "~/api/client.ts";
import { useRights } from "~/api/session.tsx";
import type { ChannelKind, NotificationChannel, Page } from "~/api/types.ts";
import { DataTable } from "~/ui/DataTable.tsx";
import { Empty } from "~/ui/Empty.tsx";
import { useFilters } from "~/ui/filters.ts";
import { PageTitle } from "~/ui/PageTitle.tsx";
import { pagingBy } from "~/ui/paging.ts";
import { TextFilter } from "~/ui/TextFilter.tsx";

import { channelColumns } from "./channelColumns.tsx";
import { channelKinds, channelPath } from "./channelWords.ts";
import { MailServerNotice } from "./MailServerNotice.tsx";
import { channelsKey } from "./useChannels.ts";

/** The state of each row is a request of its own. */
const pageSize = 20;
const names = ["kind", "tenant_id", "cursor"] as const;

const kindChoices = Object.entries(channelKinds).map(([value, { label }]) => ({ value, label }));
const isKind = (text: string | undefined): text is ChannelKind =>
  text !== undefined && text in channelKinds;

function NoChannels({ isFiltered }: { isFiltered: boolean }) {
  const rights = useRights();
  if (isFiltered) return <Empty title="No channel matches">Change or clear the filters.</Empty>;
  return (
    <Empty title="Nobody is told about alerts yet">
      A channel sends alerts by e-mail, to Slack or Teams, or to a webhook.{" "}
      {rights.admin ? (
        <Anchor component={Link} href="/notifications/new">
          Create the first channel
        </Anchor>
      ) : (
        "Ask an administrator to create one."
      )}
    </Empty>
  );
}

export default function NotificationsPage() {
  const rights = useRights();
  const [filters, change] = useFilters(names);
  const kind = isKind(filters.kind) ? filters.kind : undefined;
  const list = useQuery({
    queryKey: [...channelsKey, "list", filters],
    queryFn: () =>
      body(
        api.GET("/v1/notification-channels", {
          params: { query: { ...filters, kind, limit: pageSize } },
        }),
      ) as Promise<Page<NotificationChannel>>,
    placeholderData: keepPreviousData,
  });
  const create = filters.tenant_id
    ? `/notifications/new?tenant_id=${encodeURIComponent(filters.tenant_id)}`
    : "/notifications/new";
  return (
    <>
      <PageTitle title="Notifications">
        {rights.admin && (
          <Button component={Link} href={create}>
            Create channel
          </Button>
        )}
      </PageTitle>
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          Channels tell people about{" "}
          <Anchor component={Link} href="/alerts" size="sm">
            alerts
          </Anchor>{" "}
          and finished operations. Have two of different kinds: if one fails, the other says so.
        </Text>
        <MailServerNotice />
        <DataTable
          name="notification-channels"
          label="Notification channels"
          minWidth={1000}
          columns={
            rights.operator ? channelColumns : channelColumns.filter(({ id }) => id !== "tenant")
          }
          rows={list.data?.data}
          rowKey={(channel) => channel.id}
          href={(channel) => channelPath(channel.id)}
          error={list.error}
          retry={() => void list.refetch()}
          paging={pagingBy(list.data, filters, change)}
          tools={
            <>
              <Select
                label="Kind"
                placeholder="Any"
                clearable
                w={170}
                value={kind ?? null}
                onChange={(value) => change({ kind: value })}
                data={kindChoices}
              />
              {rights.operator && (
                <TextFilter
                  label="Tenant"
                  placeholder="Any"
                  w={145}
                  value={filters.tenant_id}
                  change={(tenant_id) => change({ tenant_id }, true)}
                />
              )}
            </>
          }
          empty={<NoChannels isFiltered={Object.keys(filters).length > 0} />}
        />
      </Stack>
    </>
  );
}
