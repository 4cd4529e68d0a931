import { MultiSelect, Pill, Select } from "@mantine/core";

import { useRights } from "~/api/session.tsx";
import { formatWord } from "~/lib/format.ts";
import { TextFilter } from "~/ui/TextFilter.tsx";
import { TimeRange } from "~/ui/TimeRange.tsx";
import { WebhookPicker } from "~/ui/WebhookPicker.tsx";

import { type DeliveryFilters, failureChoices, statusChoices } from "./deliveryFilters.ts";

interface Properties {
  filters: DeliveryFilters;
  change: (
    change: Partial<Record<keyof DeliveryFilters, string | null>>,
    replace?: boolean,
  ) => void;
}

/** Filters that other pages link to and that nobody types. */
function Given({ filters, change }: Properties) {
  const given = [
    { name: "event_id" as const, label: "Event" },
    { name: "resource_id" as const, label: "Resource" },
  ];
  return given.map(({ name, label }) => {
    const value = filters[name];
    if (!value) return null;
    return (
      <Pill
        key={name}
        size="lg"
        withRemoveButton
        onRemove={() => change({ [name]: null })}
        removeButtonProps={{ "aria-label": `Remove the filter ${label}`, tabIndex: 0 }}
      >
        {label} {value}
      </Pill>
    );
  });
}

export function FilterBar({ filters, change }: Properties) {
  const rights = useRights();
  return (
    <>
      <MultiSelect
        label="Status"
        placeholder={filters.status ? undefined : "Any"}
        clearable
        w={215}
        value={filters.status?.split(",") ?? []}
        onChange={(values) => change({ status: values.join(",") })}
        data={statusChoices}
      />
      <WebhookPicker value={filters.webhook_id} change={(webhook_id) => change({ webhook_id })} />
      <TextFilter
        label="Event type"
        placeholder="order.*"
        w={145}
        value={filters.event_type}
        change={(event_type) => change({ event_type }, true)}
      />
      <Select
        label="Failure"
        placeholder="Any"
        clearable
        w={130}
        value={filters.failure_category ?? null}
        onChange={(failure_category) => change({ failure_category })}
        data={failureChoices.map((value) => ({ value, label: formatWord(value) }))}
      />
      {rights.operator && (
        <TextFilter
          label="Tenant"
          placeholder="Any"
          w={110}
          value={filters.tenant_id}
          change={(tenant_id) => change({ tenant_id }, true)}
        />
      )}
      <TimeRange filter={filters} change={change} />
      <Given filters={filters} change={change} />
    </>
  );
}
