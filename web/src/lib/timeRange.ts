// Ranges of time as filters: a quick range such as `24h` in `range`, or RFC 3339 times in `from`
// and `to`. Pure.

export interface RangeFilter {
  range?: string;
  from?: string;
  to?: string;
}

export const quickRanges = [
  { value: "15m", label: "Last 15 min", ms: 900_000 },
  { value: "1h", label: "Last hour", ms: 3_600_000 },
  { value: "24h", label: "Last 24 h", ms: 86_400_000 },
  { value: "7d", label: "Last 7 days", ms: 604_800_000 },
  { value: "30d", label: "Last 30 days", ms: 2_592_000_000 },
];

/** The times for the API. A quick range starts at a whole minute, so that pages fit together. */
export function rangeTimes(filter: RangeFilter, now: number): { from?: string; to?: string } {
  const quick = quickRanges.find(({ value }) => value === filter.range);
  if (quick) {
    const start = Math.floor((now - quick.ms) / 60_000) * 60_000;
    return { from: new Date(start).toISOString() };
  }
  return { from: filter.from, to: filter.to };
}
