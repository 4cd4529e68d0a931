import { Box, Button, Grid, Group, Stack } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { type CatalogueEntry, exampleText } from "~/api/catalogue.ts";
import { type EventToPublish, publishEvent } from "~/api/events.ts";
import { fieldMessages } from "~/api/problem.ts";
import { isJson } from "~/lib/json.ts";
import { JsonEditor } from "~/ui/JsonEditor.tsx";
import { Problem } from "~/ui/Problem.tsx";

import { isObject, PublishFields } from "./PublishFields.tsx";
import { PublishResult } from "./PublishResult.tsx";

interface Properties {
  start: EventToPublish;
  catalogue: CatalogueEntry[];
}

/** What the server says about `data`, `data.total`, `data/items` and so on. */
function dataMessage(messages: Record<string, string>): string | null {
  const parts = Object.entries(messages).filter(([field]) => /^data\b/.test(field));
  return parts.length === 0
    ? null
    : parts.map(([field, text]) => (field === "data" ? text : `${field}: ${text}`)).join(" ");
}

export function PublishForm({ start, catalogue }: Properties) {
  const [event, setEvent] = useState(start);
  const [touched, setTouched] = useState(start.dataText !== "{}");
  const publish = useMutation({ mutationFn: () => publishEvent(event) });
  const messages = fieldMessages(publish.error);
  const set = (changes: Partial<EventToPublish>) =>
    setEvent((before) => ({ ...before, ...changes }));
  const example = exampleText(catalogue, event.type);
  const valid =
    event.type.trim() !== "" &&
    isJson(event.dataText) &&
    isObject(event.metadataText) &&
    (event.metadataText.trim() === "" || isJson(event.metadataText));

  const changeType = (type: string) => {
    const found = exampleText(catalogue, type);
    set(found !== null && !touched ? { type, dataText: found } : { type });
  };
  return (
    <form
      onSubmit={(submitted) => {
        submitted.preventDefault();
        publish.mutate();
      }}
    >
      <Grid gutter="lg">
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Stack>
            <PublishFields {...{ event, set, messages, catalogue, changeType }} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Stack>
            <Box>
              <JsonEditor
                label="Data"
                description="Any JSON value. Receivers get it as it is written here."
                required
                rows={14}
                value={event.dataText}
                problem={dataMessage(messages)}
                onChange={(dataText) => {
                  setTouched(true);
                  set({ dataText });
                }}
              />
              {example !== null && example !== event.dataText && (
                <Button
                  variant="default"
                  size="xs"
                  onClick={() => {
                    setTouched(false);
                    set({ dataText: example });
                  }}
                >
                  Use the example of {event.type}
                </Button>
              )}
            </Box>
            {publish.error && <Problem error={publish.error} />}
            {publish.data && <PublishResult type={event.type} result={publish.data} />}
            <Group justify="flex-end">
              <Button type="submit" loading={publish.isPending} disabled={!valid}>
                {publish.data ? "Publish again" : "Publish"}
              </Button>
            </Group>
          </Stack>
        </Grid.Col>
      </Grid>
    </form>
  );
}
