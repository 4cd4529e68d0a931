import { Autocomplete, Box, Group, Loader, Paper, Stack, Table, Text, Title } from "@mantine/core";

import type { Matches, PreviewedRequest } from "~/api/webhookPreview.ts";
import { Code } from "~/ui/Code.tsx";
import { JsonEditor } from "~/ui/JsonEditor.tsx";
import { Notice } from "~/ui/Notice.tsx";
import { Problem } from "~/ui/Problem.tsx";

import { useForm } from "./formContext.tsx";
import { messageAt } from "./formInput.ts";
import type { ChosenExample, Example, PreviewState } from "./usePreview.ts";

const reasons: Record<keyof Matches, string> = {
  event_type: "Its type is not among the chosen event types.",
  filter: "It does not match the filter.",
  tenant: "It belongs to another tenant.",
  resource: "It has another resource.",
};

function Verdict({ matches }: { matches: Matches }) {
  const { values, error } = useForm();
  if (error("filter")) {
    return (
      <Notice role="status" tone="bad" title="The filter is not valid">
        Correct it to see whether the webhook would receive this event.
      </Notice>
    );
  }
  if (values.events.length === 0) {
    return (
      <Notice role="status" tone="wait" title="No event types are chosen yet">
        The request is the one that the webhook would receive for this event.
      </Notice>
    );
  }
  const names = Object.keys(reasons) as (keyof Matches)[];
  const failed = names.filter((name) => !matches[name]).map((name) => reasons[name]);
  return (
    <Notice
      role="status"
      tone={failed.length === 0 ? "good" : "wait"}
      title={
        failed.length === 0
          ? "The webhook would receive this event"
          : "The webhook would not receive this event"
      }
    >
      {failed.join(" ")}
    </Notice>
  );
}

function Request({ request }: { request: PreviewedRequest }) {
  return (
    <Stack gap="xs" aria-label="Previewed request" role="group">
      <Text size="sm" className="mono">
        {request.method} {request.url}
      </Text>
      <Table.ScrollContainer minWidth={0}>
        <Table withRowBorders={false} verticalSpacing={2} fz="xs" layout="fixed">
          <caption hidden>Headers of the request</caption>
          <Table.Tbody>
            {request.headers.map(({ name, value }, index) => (
              <Table.Tr key={index}>
                <Table.Th scope="row" w="42%" className="mono" fw={400}>
                  {name}
                </Table.Th>
                <Table.Td className="mono" data-header={name}>
                  {value}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Code text={request.body} label="body of the request" />
    </Stack>
  );
}

interface Properties {
  state: PreviewState;
  example: Example;
  choose: (changes: Partial<ChosenExample>) => void;
}

function ExampleInputs({ state, example, choose }: Properties) {
  const { catalogue } = useForm();
  return (
    <>
      <Autocomplete
        label="Event type of the example"
        limit={50}
        data={catalogue.map((entry) => entry.name)}
        value={example.type}
        error={messageAt(state.errors, "event.type")}
        onChange={(type) => choose({ type, data: null })}
      />
      <JsonEditor
        label="Data of the example"
        rows={3}
        maxRows={10}
        value={example.data}
        problem={messageAt(state.errors, "event.data")}
        onChange={(data) => choose({ data })}
      />
    </>
  );
}

/** An example event, whether the webhook gets it, and the exact request. */
export function PreviewPane(props: Properties) {
  const { preview, problem, isBehind } = props.state;
  return (
    <Paper withBorder p="md" component="section" aria-label="Preview" className="form-preview">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4">
            Preview
          </Title>
          <Box h={18}>
            {isBehind && <Loader size={16} role="status" aria-label="The preview is being made" />}
          </Box>
        </Group>
        <ExampleInputs {...props} />
        {problem !== null && <Problem error={problem} />}
        {preview?.matches && <Verdict matches={preview.matches} />}
        {preview?.request && (
          <Box aria-busy={isBehind}>
            <Request request={preview.request} />
            <Text size="xs" c="dimmed" mt="xs">
              {preview.signed_with === "webhook_secret"
                ? "Signed with the secret of the webhook."
                : "Signed with an example secret."}{" "}
              Ids, times and the signature differ in each request.
            </Text>
          </Box>
        )}
      </Stack>
    </Paper>
  );
}
