import {
  Fieldset,
  MultiSelect,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  TextInput,
} from "@mantine/core";

import { useRights } from "~/api/session.tsx";

import type { ChannelValues } from "./channelInput.ts";
import type { FieldsProperties } from "./ChannelForm.tsx";
import { notificationKinds, notificationTitle } from "./channelWords.ts";
import { WebhooksChoice } from "./WebhooksChoice.tsx";

const severities: { value: ChannelValues["severity_min"]; label: string }[] = [
  { value: "info", label: "Info: everything" },
  { value: "warning", label: "Warning and critical" },
  { value: "critical", label: "Critical only" },
];

/** What the channel is told about. */
export function ChoiceFields({ values, set, error }: FieldsProperties) {
  const { operator } = useRights();
  const kinds = notificationKinds(operator && values.tenant_id.trim() === "");
  // A kind that was chosen stays visible.
  for (const value of values.kinds) {
    if (!kinds.some((each) => each.value === value)) {
      kinds.push({ value, label: notificationTitle(value) });
    }
  }
  return (
    <Fieldset legend="Tells about">
      <Stack gap="sm">
        <MultiSelect
          label="Alerts"
          description="None chosen: all"
          placeholder={values.kinds.length > 0 ? undefined : "All"}
          searchable
          clearable
          value={values.kinds}
          error={error("kinds", values.kinds.map(notificationTitle))}
          onChange={(chosen) => set({ kinds: chosen })}
          data={kinds}
        />
        <Select
          label="Lowest severity"
          allowDeselect={false}
          value={values.severity_min}
          error={error("severity_min")}
          onChange={(severity) => set({ severity_min: severity as ChannelValues["severity_min"] })}
          data={severities}
        />
        <WebhooksChoice
          tenantId={values.tenant_id.trim()}
          value={values.webhook_ids}
          error={error("webhook_ids", values.webhook_ids)}
          change={(webhook_ids) => set({ webhook_ids })}
        />
        <Switch
          label="Tell when an alert is resolved"
          checked={values.send_resolved}
          onChange={(event) => set({ send_resolved: event.currentTarget.checked })}
        />
      </Stack>
    </Fieldset>
  );
}

/** How many messages are sent. */
export function PaceFields({ values, set, error }: FieldsProperties) {
  return (
    <Fieldset legend="How often">
      <Stack gap="sm">
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
          <TextInput
            label="Grouping window"
            description="Alerts of one kind within this time are one message."
            placeholder="1 min"
            value={values.group_window}
            error={error("group_window_ms")}
            onChange={(event) => set({ group_window: event.currentTarget.value })}
          />
          <NumberInput
            label="Messages an hour"
            description="What is held back is told in one summary."
            min={1}
            max={1_000}
            allowDecimal={false}
            clampBehavior="none"
            value={values.per_hour}
            error={error("per_hour_max")}
            onChange={(count) => set({ per_hour: String(count) })}
          />
        </SimpleGrid>
        <Switch
          label="Active"
          description="An inactive channel sends nothing."
          checked={values.active}
          onChange={(event) => set({ active: event.currentTarget.checked })}
        />
      </Stack>
    </Fieldset>
  );
}
