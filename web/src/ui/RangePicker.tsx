import { SegmentedControl } from "@mantine/core";

import { type Range, ranges } from "~/lib/stats.ts";

/** The time range that charts and numbers cover. */
export function RangePicker({ value, onChange }: { value: Range; onChange: (r: Range) => void }) {
  return (
    <SegmentedControl
      size="xs"
      aria-label="Time range"
      value={value}
      onChange={(range) => onChange(range as Range)}
      data={ranges.map((range) => ({ value: range, label: range }))}
    />
  );
}
