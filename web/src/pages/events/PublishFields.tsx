import {
  Autocomplete,
  Button,
  Collapse,
  Group,
  Input,
  SegmentedControl,
  Stack,
  TextInput,
} from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";

import type { CatalogueEntry } from "~/api/catalogue.ts";
import type { EventToPublish } from "~/api/events.ts";
import { useRights } from "~/api/session.tsx";
import { JsonEditor } from "~/ui/JsonEditor.tsx";

interface Properties {
  event: EventToPublish;
  set: (changes: Partial<EventToPublish>) => void;
  messages: Record<string, string>; // What the server said about each field.
  catalogue: CatalogueEntry[];
  changeType: (type: string) => void;
}

export const isObject = (text: string) => text.trim() === "" || text.trim().startsWith("{");

type TextName = "tenant_id" | "resource_id" | "idempotency_key" | "source" | "ordering_key";

const textOf =
  ({ event, set, messages }: Properties) =>
  (name: TextName) => ({
    value: event[name],
    error: messages[name],
    onChange: (change: { currentTarget: { value: string } }) =>
      set({ [name]: change.currentTarget.value }),
  });

/** The fields that few publishers need. */
function MoreFields(props: Properties) {
  const { event, set, messages } = props;
  const text = textOf(props);
  const [more, { toggle }] = useDisclosure(
    event.metadataText + event.source + event.ordering_key !== "",
  );
  return (
    <>
      <Group>
        <Button variant="subtle" size="compact-sm" onClick={toggle} aria-expanded={more}>
          {more ? "Fewer fields" : "More fields"}
        </Button>
      </Group>
      <Collapse in={more}>
        <Stack>
          <TextInput label="Source" {...text("source")} />
          <TextInput
            label="Ordering key"
            description="Events with the same key are delivered in order."
            {...text("ordering_key")}
          />
          <JsonEditor
            label="Metadata"
            description="An object. It is stored, and sent where the payload format has it."
            rows={3}
            value={event.metadataText}
            problem={
              messages["metadata"] ??
              (isObject(event.metadataText) ? null : "This is not an object.")
            }
            onChange={(metadataText) => set({ metadataText })}
          />
        </Stack>
      </Collapse>
    </>
  );
}

/** Everything of an event except its data. */
export function PublishFields(props: Properties) {
  const { event, set, messages, catalogue, changeType } = props;
  const rights = useRights();
  const text = textOf(props);
  return (
    <>
      <Autocomplete
        label="Event type"
        description={
          catalogue.length > 0
            ? "From the catalogue, or any other name."
            : "For example order.paid. The catalogue has no event types yet."
        }
        required
        data={catalogue.map((entry) => entry.name)}
        limit={50}
        value={event.type}
        error={messages["type"]}
        onChange={changeType}
      />
      {rights.operator && (
        <TextInput
          label="Tenant"
          description="Only webhooks of this tenant receive it. Empty: the default tenant."
          {...text("tenant_id")}
        />
      )}
      <TextInput
        label="Resource"
        description="What it is about, for example order-7."
        {...text("resource_id")}
      />
      <Input.Wrapper label="Priority" labelElement="div">
        <SegmentedControl
          aria-label="Priority"
          mt={4}
          fullWidth
          value={event.priority}
          onChange={(priority) => set({ priority: priority as EventToPublish["priority"] })}
          data={["high", "normal", "low"]}
        />
      </Input.Wrapper>
      <TextInput
        label="Idempotency key"
        description="The same key within 24 hours publishes once. Empty: generated."
        {...text("idempotency_key")}
      />
      <MoreFields {...props} />
    </>
  );
}
