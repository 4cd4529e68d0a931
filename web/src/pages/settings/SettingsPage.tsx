import { Group, Select, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { readSettings, type Setting } from "~/api/settings.ts";
import { type Column, DataTable } from "~/ui/DataTable.tsx";
import { Empty } from "~/ui/Empty.tsx";
import { useFilters } from "~/ui/filters.ts";
import { PageTitle } from "~/ui/PageTitle.tsx";
import { TextFilter } from "~/ui/TextFilter.tsx";

import { filterSettings, valueText } from "./filterSettings.ts";

const names = ["q", "origin"] as const;

const origins = [
  { value: "changed", label: "Not the default" },
  { value: "default", label: "Default" },
  { value: "profile", label: "Profile" },
  { value: "file", label: "Configuration file" },
  { value: "environment", label: "Environment" },
  { value: "flag", label: "Command line" },
];

const originWords = (setting: Setting) =>
  origins.find((origin) => origin.value === setting.origin)?.label ?? setting.origin;

const columns: Column<Setting>[] = [
  {
    id: "name",
    header: "Setting",
    width: "40%",
    cell: (setting) => <span className="mono">{setting.name}</span>,
    value: (setting) => setting.name,
  },
  {
    id: "value",
    header: "Value",
    cell: (setting) => <span className="mono">{valueText(setting.value)}</span>,
    value: (setting) => valueText(setting.value),
  },
  {
    id: "origin",
    header: "Origin",
    width: "24%",
    cell: (setting) => (
      <div>
        <Text size="sm" fw={setting.origin === "default" ? undefined : 600}>
          {originWords(setting)}
        </Text>
        {setting.detail && (
          <Text size="xs" c="dimmed" className="mono truncate">
            {setting.detail}
          </Text>
        )}
      </div>
    ),
    value: (setting) => setting.detail ?? setting.origin,
  },
];

export default function SettingsPage() {
  const [filters, change] = useFilters(names);
  const list = useQuery({ queryKey: ["settings"], queryFn: readSettings });
  return (
    <>
      <PageTitle title="Settings" />
      <Text size="sm" c="dimmed" mb="md">
        What is in force, and where it comes from. Settings are changed in the configuration file,
        the environment or on the command line, and hold after a restart.
      </Text>
      <DataTable
        name="settings"
        label="Settings in force"
        columns={columns}
        rows={list.data && filterSettings(list.data.data, filters)}
        rowKey={(setting) => setting.name}
        error={list.error}
        retry={() => void list.refetch()}
        tools={
          <Group gap="sm" align="flex-end">
            <TextFilter
              label="Search"
              placeholder="Name or value"
              w={220}
              value={filters.q}
              change={(q) => change({ q }, true)}
            />
            <Select
              label="Origin"
              placeholder="Any"
              clearable
              w={180}
              value={filters.origin ?? null}
              onChange={(origin) => change({ origin })}
              data={origins}
            />
          </Group>
        }
        empty={<Empty title="No setting matches">Change or clear the filters.</Empty>}
      />
    </>
  );
}
