import { ActionIcon, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";

import { useForm } from "./formContext.tsx";
import type { HeaderRow } from "./formValues.ts";

function HeaderInputs({ row, index }: { row: HeaderRow; index: number }) {
  const { values, set, error } = useForm();
  const change = (changes: Partial<HeaderRow>) =>
    set({
      headers: values.headers.map((each, at) => (at === index ? { ...each, ...changes } : each)),
    });
  const message = row.name.trim() === "" ? undefined : error(`headers.${row.name.trim()}`);
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <TextInput
        flex={2}
        aria-label={`Name of header ${index + 1}`}
        placeholder="X-Team"
        value={row.name}
        error={message !== undefined}
        onChange={(event) => change({ name: event.currentTarget.value })}
      />
      <TextInput
        flex={3}
        aria-label={`Value of header ${index + 1}`}
        value={row.value}
        error={message}
        onChange={(event) => change({ value: event.currentTarget.value })}
      />
      <ActionIcon
        variant="default"
        size={36}
        aria-label={`Remove header ${index + 1}`}
        onClick={() => set({ headers: values.headers.filter((_, at) => at !== index) })}
      >
        <IconX size={16} />
      </ActionIcon>
    </Group>
  );
}

export function HeadersSection() {
  const { values, set, error } = useForm();
  const isAtRow = values.headers.some(({ name }) => name && error(`headers.${name.trim()}`));
  const message = isAtRow ? undefined : error("headers");
  return (
    <Stack gap="sm" align="stretch">
      <Text size="sm" c="dimmed">
        Sent with every request. A stored credential is shown as [hidden]; leave it to keep it.
      </Text>
      {values.headers.map((row, index) => (
        <HeaderInputs key={index} row={row} index={index} />
      ))}
      {message && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {message}
        </Text>
      )}
      <Group>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} />}
          onClick={() => set({ headers: [...values.headers, { name: "", value: "" }] })}
        >
          Add a header
        </Button>
      </Group>
    </Stack>
  );
}
