import { Anchor, Group, Input, Text, Textarea } from "@mantine/core";
import { type ReactNode, useId } from "react";

import { indentJson, jsonErrorWords } from "~/lib/json.ts";

interface Properties {
  label: string;
  description?: ReactNode;
  value: string;
  onChange: (text: string) => void;
  problem?: string | null; // What else is wrong with it, for example what the server said.
  required?: boolean;
  placeholder?: string;
  rows?: number;
  maxRows?: number;
}

/** A text field for JSON that says where it is wrong while one types. */
export function JsonEditor(props: Properties) {
  const id = useId();
  const isEmpty = props.value.trim() === "";
  const wrong = isEmpty ? "" : jsonErrorWords(props.value);
  const missing = isEmpty && props.required ? "Write a JSON value." : "";
  const error = wrong || missing || props.problem;
  const indented = indentJson(props.value);
  return (
    <Input.Wrapper
      id={id}
      label={props.label}
      description={props.description}
      withAsterisk={props.required}
      error={error}
    >
      <Textarea
        id={id}
        aria-required={props.required}
        error={Boolean(error)}
        autosize
        minRows={props.rows ?? 6}
        maxRows={props.maxRows ?? 24}
        placeholder={props.placeholder}
        mt={4}
        spellCheck={false}
        autoComplete="off"
        classNames={{ input: "mono" }}
        value={props.value}
        onChange={(event) => props.onChange(event.currentTarget.value)}
      />
      <Group justify="space-between" mt={4} mih={20}>
        <Text size="xs" c="dimmed">
          {!isEmpty && !wrong && "Valid JSON"}
        </Text>
        {indented !== null && indented !== props.value && (
          <Anchor
            component="button"
            type="button"
            size="xs"
            onClick={() => props.onChange(indented)}
          >
            Indent
          </Anchor>
        )}
      </Group>
    </Input.Wrapper>
  );
}
