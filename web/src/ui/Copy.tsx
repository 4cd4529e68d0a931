import { ActionIcon, Button, CopyButton, Group, Tooltip } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";

/** Copies a text. Says so with a word, or with `label` as a whole button. */
export function Copy({ text, what, label }: { text: string; what: string; label?: string }) {
  return (
    <CopyButton value={text} timeout={2_000}>
      {({ copied, copy }) => {
        const icon = copied ? <IconCheck size={16} /> : <IconCopy size={16} />;
        if (label) {
          return (
            <Button size="xs" variant="default" leftSection={icon} onClick={copy}>
              {copied ? "Copied" : label}
            </Button>
          );
        }
        return (
          <Tooltip label={copied ? "Copied" : `Copy ${what}`}>
            <ActionIcon variant="subtle" color="gray" aria-label={`Copy ${what}`} onClick={copy}>
              {icon}
            </ActionIcon>
          </Tooltip>
        );
      }}
    </CopyButton>
  );
}

/** An id in full, with a button to copy it. */
export function Id({ value }: { value: string }) {
  return (
    <Group component="span" display="inline-flex" gap={4} wrap="nowrap">
      <span className="mono">{value}</span>
      <Copy text={value} what="the id" />
    </Group>
  );
}
