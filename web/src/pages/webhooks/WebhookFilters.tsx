import { Autocomplete, Group, Select, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useState } from "react";

import { useCatalogue } from "~/api/catalogue.ts";
import { useRights } from "~/api/session.tsx";
import { isEventType } from "~/lib/eventPattern.ts";

import type { ListFilters } from "./webhookList.ts";

const typingMs = 300;
const isTenantId = (text: string) => /^[A-Za-z0-9._:@-]{1,128}$/.test(text);

const states = [
  { value: "active", label: "Active" },
  { value: "paused", label: "Paused" },
  { value: "disabled", label: "Inactive" },
];
const circuits = [
  { value: "closed", label: "Closed" },
  { value: "open", label: "Open" },
  { value: "half_open", label: "Half open" },
];

interface Properties {
  filters: ListFilters;
  change: (changes: Record<string, string | null>, replace?: boolean) => void;
}

/** What is typed becomes a filter after a moment, if the API would accept it. */
function useTyped(
  name: "q" | "event_type" | "tenant_id",
  { filters, change }: Properties,
  isValid: (text: string) => boolean,
) {
  const [text, setText] = useState(filters[name] ?? "");
  const apply = useDebouncedCallback((value: string) => change({ [name]: value }, true), typingMs);
  const error = text !== "" && !isValid(text);
  const type = (value: string) => {
    setText(value);
    if (value === "" || isValid(value)) apply(value);
  };
  return { text, type, error };
}

export function WebhookFilters(props: Properties) {
  const { filters, change } = props;
  const rights = useRights();
  const catalogue = useCatalogue();
  const search = useTyped("q", props, (text) => text.trim() !== "");
  const eventType = useTyped("event_type", props, isEventType);
  const tenant = useTyped("tenant_id", props, isTenantId);
  return (
    <Group gap="sm" align="flex-end">
      <TextInput
        label="Search"
        placeholder="Name or URL"
        maxLength={200}
        value={search.text}
        onChange={(event) => search.type(event.currentTarget.value)}
      />
      <Select
        label="State"
        placeholder="Any"
        clearable
        w={150}
        value={filters.status ?? null}
        onChange={(status) => change({ status })}
        data={states}
      />
      <Select
        label="Circuit"
        placeholder="Any"
        clearable
        w={130}
        value={filters.circuit ?? null}
        onChange={(circuit) => change({ circuit })}
        data={circuits}
      />
      <Autocomplete
        label="Event type"
        placeholder="Any"
        w={180}
        maxLength={256}
        limit={50}
        value={eventType.text}
        error={eventType.error}
        onChange={eventType.type}
        data={(catalogue.data ?? []).map((entry) => entry.name)}
      />
      {rights.operator && (
        <TextInput
          label="Tenant"
          placeholder="Any"
          w={140}
          maxLength={128}
          value={tenant.text}
          error={tenant.error}
          onChange={(event) => tenant.type(event.currentTarget.value)}
        />
      )}
    </Group>
  );
}
