import { TextInput, type TextInputProps } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useEffect, useRef, useState } from "react";

interface Properties extends Omit<TextInputProps, "value" | "onChange"> {
  value: string | undefined; // Of the address bar.
  change: (value: string) => void; // Called when the visitor has stopped typing.
}

/** A filter that is typed. It follows the address bar, for example after "back". */
export function TextFilter({ value, change, ...input }: Properties) {
  const [text, setText] = useState(value ?? "");
  const sent = useRef(value ?? "");
  useEffect(() => {
    if ((value ?? "") === sent.current) return;
    sent.current = value ?? "";
    setText(sent.current);
  }, [value]);
  const changeSoon = useDebouncedCallback((next: string) => {
    sent.current = next;
    change(next);
  }, 300);
  return (
    <TextInput
      {...input}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        changeSoon(event.currentTarget.value.trim());
      }}
    />
  );
}
