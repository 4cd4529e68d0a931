import { Autocomplete, Button, Paper, SimpleGrid, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type Dispatch, type SetStateAction, useEffect, useRef, useState } from "react";

import { type CatalogueEntry, exampleText, useCatalogue } from "~/api/catalogue.ts";
import { sendTest } from "~/api/testSend.ts";
import type { Webhook } from "~/api/types.ts";
import { isJson } from "~/lib/json.ts";
import { JsonEditor } from "~/ui/JsonEditor.tsx";
import { Notice } from "~/ui/Notice.tsx";
import { Problem } from "~/ui/Problem.tsx";

import { TestResult } from "./TestResult.tsx";

/** Why a test would be refused now. */
function obstacle(hook: Webhook): string | null {
  if (!hook.active) return "The webhook is not active. Activate it to send a test.";
  if (hook.paused) return "The webhook is paused. Resume it to send a test.";
  if (hook.circuit?.state === "open") {
    return "The circuit is open. Reset it to send a test.";
  }
  return null;
}

function TypeAndData({ types, type, setType, data, setData }: FormProperties) {
  const example = exampleText(types, type);
  const offered = useRef("");
  useEffect(() => {
    if (!example) return;
    // What the visitor wrote is kept; an example gives way to the next one.
    setData((written) => (written === "" || written === offered.current ? example : written));
    offered.current = example;
  }, [example, setData]);
  return (
    <>
      <Autocomplete
        label="Event type"
        description="From the catalogue, with its example, or your own"
        placeholder="postrider.test"
        data={types.map((each) => each.name)}
        value={type}
        onChange={setType}
        limit={50}
      />
      <JsonEditor
        label="Data"
        description="Any JSON value. It is sent as it is written."
        placeholder='{"hello": "world"}'
        maxRows={18}
        value={data}
        onChange={setData}
      />
    </>
  );
}

interface FormProperties {
  types: CatalogueEntry[];
  type: string;
  setType: (type: string) => void;
  data: string;
  setData: Dispatch<SetStateAction<string>>;
}

export function TestTab({ hook }: { hook: Webhook }) {
  const types = useCatalogue();
  const [type, setType] = useState("");
  const [data, setData] = useState("");
  const send = useMutation({ mutationFn: () => sendTest(hook.id, type, data) });
  const problem = obstacle(hook);
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          A test is sent at once, signed like any delivery, with one attempt. If it fails, it is
          cancelled and does not become a dead letter.
        </Text>
        {problem && (
          <Notice tone="wait" title="A test cannot be sent now">
            {problem}
          </Notice>
        )}
        <TypeAndData
          types={types.data ?? []}
          type={type}
          setType={setType}
          data={data}
          setData={setData}
        />
        <div>
          <Button
            loading={send.isPending}
            disabled={problem !== null || (data.trim() !== "" && !isJson(data))}
            onClick={() => send.mutate()}
          >
            Send test
          </Button>
        </div>
      </Stack>
      <Paper withBorder p="md" mih={240} component="section" aria-label="Answer" aria-live="polite">
        {send.error && <Problem error={send.error} />}
        {send.isSuccess && <TestResult answer={send.data} />}
        {(send.isIdle || send.isPending) && (
          <Text size="sm" c="dimmed">
            {send.isPending
              ? "Waiting for the receiver …"
              : "The answer of the receiver is shown here."}
          </Text>
        )}
      </Paper>
    </SimpleGrid>
  );
}
