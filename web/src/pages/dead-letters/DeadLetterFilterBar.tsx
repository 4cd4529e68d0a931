import { Select } from "@mantine/core";

import { useRights } from "~/api/session.tsx";
import { formatWord } from "~/lib/format.ts";
import { failureChoices } from "~/pages/deliveries/deliveryFilters.ts";
import { TextFilter } from "~/ui/TextFilter.tsx";
import { TimeRange } from "~/ui/TimeRange.tsx";
import { WebhookPicker } from "~/ui/WebhookPicker.tsx";

import { ageChoices, type DeadLetterFilters } from "./deadLetterFilters.ts";

interface Properties {
  filters: DeadLetterFilters;
  change: (
    change: Partial<Record<keyof DeadLetterFilters, string | null>>,
    replace?: boolean,
  ) => void;
}

export function DeadLetterFilterBar({ filters, change }: Properties) {
  const rights = useRights();
  const select = (
    name: "failure_category" | "age" | "classification",
    label: string,
    data: { value: string; label: string }[],
  ) => (
    <Select
      label={label}
      placeholder="Any"
      clearable
      w={145}
      value={filters[name] ?? null}
      onChange={(value) => change({ [name]: value })}
      data={data}
    />
  );
  return (
    <>
      <WebhookPicker value={filters.webhook_id} change={(webhook_id) => change({ webhook_id })} />
      <TextFilter
        label="Event type"
        placeholder="order.*"
        w={145}
        value={filters.event_type}
        change={(event_type) => change({ event_type }, true)}
      />
      {select(
        "failure_category",
        "Failure",
        failureChoices.map((value) => ({ value, label: formatWord(value) })),
      )}
      {select("age", "Age", ageChoices)}
      {select("classification", "Classification", [
        { value: "recoverable", label: "Recoverable" },
        { value: "permanent", label: "Permanent" },
      ])}
      {rights.operator && (
        <TextFilter
          label="Tenant"
          placeholder="Any"
          w={145}
          value={filters.tenant_id}
          change={(tenant_id) => change({ tenant_id }, true)}
        />
      )}
      <TimeRange filter={filters} change={change} />
    </>
  );
}
