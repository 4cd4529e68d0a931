import { Button, Grid, Group, Stack, Switch, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";

import type { EventTypeWithText } from "~/api/eventTypes.ts";
import { fieldMessages } from "~/api/problem.ts";

import { JsonEditor } from "~/ui/JsonEditor.tsx";
import { Problem } from "~/ui/Problem.tsx";

import {
  draftOf,
  type EventTypeDraft,
  isComplete,
  nameProblem,
  schemaProblem,
} from "./eventType.ts";

interface Properties {
  known: EventTypeWithText | null; // null: a new one.
  error: unknown;
  saving: boolean;
  save: (draft: EventTypeDraft) => void;
}

/** The messages about a field and the places inside it, for example `schema/properties/a`. */
function messageFor(messages: Record<string, string>, name: string): string | null {
  const parts = Object.entries(messages).filter(
    ([field]) => field.startsWith(name) && !/^\w/.test(field.slice(name.length)),
  );
  const texts = parts.map(([field, text]) => (field === name ? text : `${field}: ${text}`));
  return texts.length === 0 ? null : texts.join(" ");
}

export function EventTypeForm({ known, error, saving, save }: Properties) {
  const [draft, setDraft] = useState(() => draftOf(known));
  const set = (changes: Partial<EventTypeDraft>) =>
    setDraft((before) => ({ ...before, ...changes }));
  const [isNameLeft, setNameLeft] = useState(false);
  const messages = fieldMessages(error);
  const hasError = error !== null && error !== undefined;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save(draft);
      }}
    >
      <Stack>
        {!known && (
          <TextInput
            label="Name"
            description="Letters, digits, _ and -, in parts separated by dots: order.paid"
            required
            value={draft.name}
            error={nameProblem(draft.name, !isNameLeft) ?? messages["name"]}
            onBlur={() => setNameLeft(true)}
            onFocus={() => setNameLeft(false)}
            onChange={(event) => set({ name: event.currentTarget.value })}
          />
        )}
        <Textarea
          label="Description"
          description="When the event happens, for people who receive it."
          autosize
          minRows={2}
          value={draft.description}
          error={messages["description"]}
          onChange={(event) => set({ description: event.currentTarget.value })}
        />
        <Grid gutter="lg">
          <Grid.Col span={{ base: 12, md: 6 }}>
            <JsonEditor
              label="Schema"
              description="A JSON Schema (draft 7) for the data of the events. Empty: none."
              rows={14}
              value={draft.schemaText}
              problem={schemaProblem(draft.schemaText) ?? messageFor(messages, "schema")}
              onChange={(schemaText) => set({ schemaText })}
            />
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 6 }}>
            <JsonEditor
              label="Example"
              description="The data of such an event. It has to match the schema."
              rows={14}
              value={draft.exampleText}
              problem={messageFor(messages, "example")}
              onChange={(exampleText) => set({ exampleText })}
            />
          </Grid.Col>
        </Grid>
        <Switch
          label="Refuse events that do not match the schema"
          checked={draft.validate}
          onChange={(event) => set({ validate: event.currentTarget.checked })}
        />
        {hasError && <Problem error={error} />}
        <Group justify="flex-end">
          <Button type="submit" loading={saving} disabled={!isComplete(draft)}>
            {known ? "Save changes" : "Create event type"}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
