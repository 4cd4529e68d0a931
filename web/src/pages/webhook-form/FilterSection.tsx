import { Stack, Text, Textarea } from "@mantine/core";

import { Notice } from "~/ui/Notice.tsx";

import { useForm } from "./formContext.tsx";

const placeholder = '{"data": {"amount": [{"numeric": [">", 100]}]}}';

/** Whether the example beside the form passes the filter. */
function FilterResult() {
  const { values, error, preview } = useForm();
  if (values.filter.trim() === "") {
    return (
      <Text size="sm" c="dimmed">
        Without a filter, every event of the chosen types is delivered.
      </Text>
    );
  }
  if (error("filter") || !preview?.matches) return null;
  const isMatch = preview.matches.filter;
  return (
    <Notice
      role="status"
      tone={isMatch ? "good" : "wait"}
      title={isMatch ? "The example matches the filter" : "The example does not match the filter"}
    >
      Change the example event in the preview to try others.
    </Notice>
  );
}

export function FilterSection() {
  const { values, set, error } = useForm();
  return (
    <Stack gap="sm">
      <Textarea
        label="Filter"
        description="A JSON pattern of Amazon EventBridge on id, type, timestamp, tenant_id, resource_id, source, metadata and data. Only events that match are delivered."
        placeholder={placeholder}
        autosize
        minRows={4}
        maxRows={16}
        name="filter"
        classNames={{ input: "mono" }}
        value={values.filter}
        error={error("filter")}
        onChange={(event) => set({ filter: event.currentTarget.value })}
      />
      <FilterResult />
    </Stack>
  );
}
