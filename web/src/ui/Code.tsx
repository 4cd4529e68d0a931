import { Box, Code as MantineCode, Group, SegmentedControl } from "@mantine/core";
import { useState } from "react";

import { indentJson } from "~/lib/json.ts";

import { Copy } from "./Copy.tsx";

export { indentJson as prettyJson } from "~/lib/json.ts";

/** Text of publishers and receivers, exactly as it is, or indented if it is JSON. */
export function Code({ text, label }: { text: string; label: string }) {
  const pretty = indentJson(text);
  const [view, setView] = useState("pretty");
  const shown = view === "pretty" && pretty !== null ? pretty : text;
  return (
    <Box>
      <Group justify="flex-end" gap="xs" mb={4}>
        {pretty !== null && (
          <SegmentedControl
            size="xs"
            value={view}
            onChange={setView}
            aria-label={`How to show the ${label}`}
            data={[
              { value: "pretty", label: "Pretty" },
              { value: "raw", label: "Raw" },
            ]}
          />
        )}
        <Copy text={text} what={`the ${label}`} />
      </Group>
      {/* Focusable, so that the keyboard can scroll it. */}
      <MantineCode
        block
        mah={420}
        tabIndex={0}
        role="region"
        aria-label={label}
        style={{ overflow: "auto", whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}
      >
        {shown}
      </MantineCode>
    </Box>
  );
}
