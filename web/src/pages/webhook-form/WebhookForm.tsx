import "./form.css";

import { Accordion, Box, Button, Grid, Group, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SyntheticEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Link } from "wouter";

import { useCatalogue } from "~/api/catalogue.ts";
import { fieldMessages } from "~/api/problem.ts";
import type { WebhookWithText } from "~/api/webhookText.ts";
import { writeJson } from "~/lib/rawJson.ts";
import { useLeaveGuard } from "~/ui/leaveGuard.ts";
import { Problem } from "~/ui/Problem.tsx";

import { BasicFields } from "./BasicFields.tsx";
import { EventPicker } from "./EventPicker.tsx";
import { type FormParts, FormProvider } from "./formContext.tsx";
import {
  type Input,
  messageAt,
  type Messages,
  missingFields,
  readForm,
  verification,
} from "./formInput.ts";
import { emptyValues, type FormValues, valuesOf } from "./formValues.ts";
import { PreviewPane } from "./PreviewPane.tsx";
import { sections, sectionsWith } from "./sections.ts";
import { standingErrors } from "./standingErrors.ts";
import { summaries } from "./summaries.ts";
import { exampleOf, usePreview } from "./usePreview.ts";

const noErrors: Messages = {};

interface Properties {
  existing: WebhookWithText | null;
  save: (input: string) => Promise<void>; // The JSON of what was entered or changed.
  cancel: string; // A path.
}

/** The values, what they mean, and what is wrong with them. */
function useFormState(existing: WebhookWithText | null) {
  const start = useMemo(
    () => (existing ? valuesOf(existing.webhook, existing) : emptyValues()),
    [existing],
  );
  const [values, setValues] = useState<FormValues>(start);
  const set = useCallback(
    (changes: Partial<FormValues>) => setValues((before) => ({ ...before, ...changes })),
    [],
  );
  const reading = useMemo(() => readForm(values, start), [values, start]);
  const isChanged =
    Object.keys(reading.input).length > 0 ||
    Object.keys(reading.errors).length > 0 ||
    values.verify !== "no";
  return { values, set, reading, isChanged };
}

function Sections({ form, opened, setOpened }: SectionsProperties) {
  return (
    <Accordion
      multiple
      variant="contained"
      order={2}
      value={opened}
      onChange={setOpened}
      aria-label="More settings"
    >
      {sections.map(({ id, title, fields, Content }) => {
        const isWrong = fields.some((field) => form.error(field) !== undefined);
        return (
          <Accordion.Item key={id} value={id}>
            <Accordion.Control>
              <Text fw={600} size="sm" component="span" display="block">
                {title}
              </Text>
              <Text
                size="xs"
                component="span"
                display="block"
                mih={18}
                c={isWrong ? "var(--mantine-color-error)" : "dimmed"}
              >
                {isWrong ? "Needs attention" : form.preview && summaries[id]?.(form.preview)}
              </Text>
            </Accordion.Control>
            <Accordion.Panel>
              <Content />
            </Accordion.Panel>
          </Accordion.Item>
        );
      })}
    </Accordion>
  );
}

interface SectionsProperties {
  form: FormParts;
  opened: string[];
  setOpened: (opened: string[]) => void;
}

export function WebhookForm({ existing, save, cancel }: Properties) {
  const { values, set, reading, isChanged } = useFormState(existing);
  const catalogue = useCatalogue();
  const entries = useMemo(() => catalogue.data ?? [], [catalogue.data]);
  const [chosen, setChosen] = useState<Parameters<typeof exampleOf>[0]>({ type: null, data: null });
  const example = exampleOf(chosen, values.events, entries);
  const state = usePreview(reading, values, existing?.webhook.id, example, !catalogue.isPending);
  const [opened, setOpened] = useState<string[]>([]);
  const [missing, setMissing] = useState(noErrors);
  const [isUrlLeft, setUrlLeft] = useState(existing !== null);
  const element = useRef<HTMLFormElement>(null);
  const queries = useQueryClient();
  const saving = useMutation({
    mutationFn: (input: Input) => save(writeJson({ ...input, ...verification(values) })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["webhooks"] }),
  });
  useLeaveGuard(isChanged && !saving.isSuccess);

  // Errors of the last try stay until their field changes; the live ones follow the typing.
  const errors: Messages = {
    ...standingErrors(fieldMessages(saving.error), saving.variables ?? {}, reading.input),
    ...state.errors,
    ...reading.errors,
    ...missing,
  };
  if (!isUrlLeft && !saving.error) delete errors["url"];
  if (missing["url"] && values.url.trim() === "") errors["url"] = missing["url"];
  const form: FormParts = {
    values,
    set: (changes) => {
      if (changes.url !== undefined || changes.events !== undefined) setMissing(noErrors);
      set(changes);
    },
    error: (field) => messageAt(errors, field),
    existing: existing?.webhook ?? null,
    preview: state.preview,
    catalogue: entries,
  };

  /** Opens the parts with errors and goes to the first one, or to what is wrong with the whole. */
  const showErrors = (found: Messages) => {
    setOpened((before) => [...new Set([...before, ...sectionsWith(found)])]);
    window.setTimeout(() => {
      const first = element.current?.querySelector<HTMLElement>(
        "[aria-invalid='true'], [data-problem]",
      );
      first?.focus({ preventScroll: true });
      first?.scrollIntoView({ block: "center" }); // The buttons at the bottom cover its edge.
    }, 50);
  };
  useEffect(() => {
    if (saving.error) showErrors(fieldMessages(saving.error));
  }, [saving.error]);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setUrlLeft(true);
    const found = { ...reading.errors, ...missingFields(values) };
    setMissing(missingFields(values));
    if (Object.keys(found).length > 0) showErrors(found);
    else saving.mutate(reading.input);
  };
  return (
    <FormProvider value={form}>
      <form
        ref={element}
        noValidate
        onSubmit={submit}
        onBlur={(event) => {
          if ((event.target as { name?: string }).name === "url") setUrlLeft(true);
        }}
      >
        <Grid gutter="md">
          <Grid.Col span={{ base: 12, lg: 7 }}>
            <Stack>
              <BasicFields />
              <EventPicker />
              <Sections form={form} opened={opened} setOpened={setOpened} />
              {saving.error && (
                <Box data-problem tabIndex={-1}>
                  <Problem error={saving.error} />
                </Box>
              )}
              <Group className="form-actions">
                <Button
                  type="submit"
                  loading={saving.isPending}
                  disabled={existing !== null && !isChanged}
                >
                  {existing ? "Save changes" : "Create webhook"}
                </Button>
                <Button component={Link} href={cancel} variant="default">
                  Cancel
                </Button>
              </Group>
            </Stack>
          </Grid.Col>
          <Grid.Col span={{ base: 12, lg: 5 }}>
            <PreviewPane
              state={state}
              example={example}
              choose={(changes) => setChosen((before) => ({ ...before, ...changes }))}
            />
          </Grid.Col>
        </Grid>
      </form>
    </FormProvider>
  );
}
