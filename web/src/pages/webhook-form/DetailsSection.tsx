import { Textarea, SimpleGrid, Stack, Switch, TextInput } from "@mantine/core";

import { useForm, useText } from "./formContext.tsx";

/** For the visitor's own use, and what limits the webhook to one resource. */
export function DetailsSection() {
  const { values, set, error } = useForm();
  return (
    <Stack gap="sm">
      <Switch
        label="Active"
        description="An inactive webhook gets no deliveries."
        checked={values.active}
        onChange={(event) => set({ active: event.currentTarget.checked })}
      />
      <Textarea label="Description" autosize minRows={1} maxRows={6} {...useText("description")} />
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        <TextInput
          label="Resource"
          description="Only events with this resource id"
          {...useText("resource_id")}
        />
        <TextInput label="Owner" description="For your own use" {...useText("owner_id")} />
        <TextInput
          label="E-mail of the owner"
          description="Notification channels can tell the owner about alerts"
          placeholder="owner@example.com"
          inputMode="email"
          maxLength={254}
          {...useText("owner_email")}
        />
      </SimpleGrid>
      <Textarea
        label="Metadata"
        description="A JSON object for your own use"
        placeholder={'{"team": "billing"}'}
        autosize
        minRows={2}
        maxRows={12}
        name="metadata"
        classNames={{ input: "mono" }}
        value={values.metadata}
        error={error("metadata")}
        onChange={(event) => set({ metadata: event.currentTarget.value })}
      />
    </Stack>
  );
}
