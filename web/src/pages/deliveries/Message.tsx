import { Box, Code, Group, SegmentedControl, Table, Text, Title } from "@mantine/core";
import { type ReactNode, useState } from "react";

import { indentJson } from "~/lib/json.ts";
import { Copy } from "~/ui/Copy.tsx";

import { type HttpMessage, rawText } from "./httpMessage.ts";

function Block({ text, label }: { text: string; label: string }) {
  return (
    <Code block mah={420} tabIndex={0} role="region" aria-label={label} className="message-block">
      {text}
    </Code>
  );
}

function Pretty({ message, what }: { message: HttpMessage; what: string }) {
  return (
    <>
      <Text className="mono" fw={600} mb={4}>
        {message.start}
      </Text>
      {message.headers.length > 0 && (
        <Table className="message-headers" verticalSpacing={2} mb="xs" withRowBorders={false}>
          <caption hidden>Headers of the {what}</caption>
          <Table.Tbody>
            {message.headers.map(([name, value], index) => (
              <Table.Tr key={index}>
                <Table.Th scope="row" className="mono">
                  {name}
                </Table.Th>
                <Table.Td className="mono">{value}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {message.body ? (
        <Block text={indentJson(message.body) ?? message.body} label={`Body of the ${what}`} />
      ) : (
        <Text size="sm" c="dimmed">
          No body
        </Text>
      )}
    </>
  );
}

interface Properties {
  title: string;
  what: string; // "request of attempt 2"
  message: HttpMessage | null;
  missing: string; // Why there is none.
  children?: ReactNode;
}

/** A request or response. The texts of publishers and receivers are shown as text. */
export function Message({ title, what, message, missing, children }: Properties) {
  const [view, setView] = useState("pretty");
  return (
    <Box miw={0}>
      <Group justify="space-between" mb="xs" mih={30}>
        <Title order={4} size="h5">
          {title}
        </Title>
        {message && (
          <Group gap="xs">
            <SegmentedControl
              size="xs"
              value={view}
              onChange={setView}
              aria-label={`How to show the ${what}`}
              data={[
                { value: "pretty", label: "Pretty" },
                { value: "raw", label: "Raw" },
              ]}
            />
            <Copy text={rawText(message)} what={`the ${what}`} />
          </Group>
        )}
      </Group>
      {!message && (
        <Text size="sm" c="dimmed">
          {missing}
        </Text>
      )}
      {message && view === "pretty" && <Pretty message={message} what={what} />}
      {message && view === "raw" && <Block text={rawText(message)} label={`Raw ${what}`} />}
      {children}
    </Box>
  );
}
