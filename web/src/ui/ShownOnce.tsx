import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";

import { Copy } from "./Copy.tsx";
import { Notice } from "./Notice.tsx";

interface Properties {
  title: string;
  what: string; // For example "the key".
  text: string | null; // null: nothing is shown.
  children: ReactNode; // What it is for.
  onClose: () => void;
}

/** A secret that the server gives once. A click beside the dialog does not close it. */
export function ShownOnce({ title, what, text, children, onClose }: Properties) {
  return (
    <Modal
      opened={text !== null}
      onClose={onClose}
      title={title}
      closeOnClickOutside={false}
      size="lg"
    >
      <Stack>
        <Text component="div" size="sm">
          {children}
        </Text>
        <Notice tone="wait" title="It is shown only once">
          Copy {what} now. Nobody can see it again after this dialog is closed.
        </Notice>
        <Text className="mono" data-testid="shown-once">
          {text}
        </Text>
        <Group justify="flex-end">
          <Copy text={text ?? ""} what={what} label={`Copy ${what}`} />
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
