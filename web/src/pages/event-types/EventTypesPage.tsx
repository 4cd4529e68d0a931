import { Anchor, Button, Group, Select, Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "wouter";

import { api, body } from "~/api/client.ts";
import { useRights } from "~/api/session.tsx";
import type { EventTypeEntry, Page } from "~/api/types.ts";
import { type Column, DataTable } from "~/ui/DataTable.tsx";
import { Empty } from "~/ui/Empty.tsx";
import { useFilters } from "~/ui/filters.ts";
import { NothingMatches } from "~/ui/NothingMatches.tsx";
import { PageTitle } from "~/ui/PageTitle.tsx";
import { pagingBy } from "~/ui/paging.ts";
import { Status } from "~/ui/Status.tsx";
import { Time } from "~/ui/Time.tsx";

import { eventTypePath, validationWords } from "./eventType.ts";

const pageSize = 50;
const names = ["archived", "system", "cursor"] as const;
const stateOf = (entry: EventTypeEntry) => (entry.archived ? "archived" : "active");

const columns: Column<EventTypeEntry>[] = [
  {
    id: "name",
    header: "Event type",
    width: "40%",
    cell: (entry) => (
      <div>
        <Anchor
          component={Link}
          href={eventTypePath(entry.name)}
          className="truncate"
          display="block"
        >
          {entry.name}
        </Anchor>
        <Text size="xs" c="dimmed" className="truncate">
          {entry.description ?? "No description"}
        </Text>
      </div>
    ),
    value: (entry) => entry.name,
  },
  {
    id: "validation",
    header: "Validation",
    cell: validationWords,
    value: validationWords,
  },
  {
    id: "example",
    header: "Example",
    width: "7rem",
    cell: (entry) => (entry.example === null ? "–" : "yes"),
    value: (entry) => entry.example !== null,
  },
  {
    id: "state",
    header: "State",
    width: "7rem",
    cell: (entry) => <Status value={stateOf(entry)} />,
    value: stateOf,
  },
  {
    id: "updated",
    header: "Changed",
    width: "8rem",
    cell: (entry) => <Time at={entry.updated_at} />,
    value: (entry) => entry.updated_at,
  },
];

export default function EventTypesPage() {
  const rights = useRights();
  const mayChange = rights.operator && rights.admin;
  const [filters, change] = useFilters(names);
  const list = useQuery({
    queryKey: ["event-types", filters],
    queryFn: () =>
      body(
        api.GET("/v1/event-types", {
          params: {
            query: {
              archived: filters.archived ? filters.archived === "true" : undefined,
              system: filters.system === "true",
              cursor: filters.cursor,
              limit: pageSize,
            },
          },
        }),
      ) as Promise<Page<EventTypeEntry>>,
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <PageTitle title="Event types">
        {mayChange && (
          <Button component={Link} href="/event-types/new">
            Create event type
          </Button>
        )}
      </PageTitle>
      <DataTable
        name="event-types"
        label="Event types"
        columns={columns}
        rows={list.data?.data}
        rowKey={(entry) => entry.name}
        href={(entry) => eventTypePath(entry.name)}
        error={list.error}
        retry={() => void list.refetch()}
        paging={pagingBy(list.data, filters, change)}
        tools={
          <Group gap="sm" align="flex-end">
            <Select
              label="State"
              placeholder="Any"
              clearable
              w={150}
              value={filters.archived ?? null}
              onChange={(archived) => change({ archived })}
              data={[
                { value: "false", label: "Active" },
                { value: "true", label: "Archived" },
              ]}
            />
            <Select
              label="Published by"
              allowDeselect={false}
              w={170}
              value={filters.system === "true" ? "true" : "false"}
              onChange={(system) => change({ system: system === "true" ? system : null })}
              data={[
                { value: "false", label: "Publishers" },
                { value: "true", label: "The server" },
              ]}
            />
          </Group>
        }
        empty={
          filters.archived || filters.system ? (
            <NothingMatches what="event type" filters={filters} change={change} />
          ) : (
            <Empty title="The catalogue is empty">
              It describes the types of events: for people, and with a schema for the server, which
              then refuses events that do not match. Events of other types are accepted too.{" "}
              {mayChange && (
                <Anchor component={Link} href="/event-types/new">
                  Create the first event type
                </Anchor>
              )}
            </Empty>
          )
        }
      />
    </>
  );
}
