import { Select, TextInput } from "@mantine/core";
import { useEffect, useState } from "react";

import { fromInput, toInput } from "~/lib/inputTime.ts";
import { quickRanges, type RangeFilter } from "~/lib/timeRange.ts";

import { useTimeZone } from "./preferences.ts";

interface Properties {
  filter: RangeFilter;
  change: (change: Record<"range" | "from" | "to", string | null>) => void;
}

const custom = "custom";

/** A quick range, or two times. */
export function TimeRange({ filter, change }: Properties) {
  const [zone] = useTimeZone();
  const [isCustom, setCustom] = useState(Boolean(filter.from ?? filter.to));
  const hasTimes = isCustom || Boolean(filter.from ?? filter.to);
  // The times were cleared elsewhere, and not by the visitor who is typing one of them.
  useEffect(() => {
    if (!filter.from && !filter.to && !document.activeElement?.matches("[type=datetime-local]")) {
      setCustom(false);
    }
  }, [filter.from, filter.to]);
  const suffix = zone === "utc" ? " (UTC)" : "";
  const changeTime = (name: "from" | "to", text: string) =>
    change({
      range: null,
      from: filter.from ?? null,
      to: filter.to ?? null,
      [name]: fromInput(text, zone),
    });
  return (
    <>
      <Select
        label="Time"
        placeholder="Any time"
        clearable
        w={170}
        value={hasTimes ? custom : (filter.range ?? null)}
        onChange={(value) => {
          setCustom(value === custom);
          if (value !== custom) change({ range: value, from: null, to: null });
        }}
        data={[
          ...quickRanges.map(({ value, label }) => ({ value, label })),
          { value: custom, label: "From … to …" },
        ]}
      />
      {hasTimes &&
        (["from", "to"] as const).map((name) => (
          <TextInput
            key={name}
            type="datetime-local"
            label={(name === "from" ? "From" : "To") + suffix}
            defaultValue={toInput(filter[name], zone)}
            onChange={(event) => changeTime(name, event.currentTarget.value)}
          />
        ))}
    </>
  );
}
