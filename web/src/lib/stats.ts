// What the charts show, from the answer of GET /v1/stats. Pure.
import type { Stats, StatsQuery, Tally } from "~/api/types.ts";

import { formatCount, formatDuration, formatShare } from "./format.ts";

export const ranges = ["1h", "24h", "7d", "30d"] as const;
export type Range = (typeof ranges)[number];
export const defaultRange: Range = "24h";

export const rangeLabels: Record<Range, string> = {
  "1h": "last hour",
  "24h": "last 24 hours",
  "7d": "last 7 days",
  "30d": "last 30 days",
};

/** A range from the address bar. Anything unknown is the default. */
export const parseRange = (text: string | undefined): Range =>
  ranges.find((range) => range === text) ?? defaultRange;

/** Short enough to show a change, long enough to stay readable. */
export function bucketOf(range: Range): NonNullable<StatsQuery["bucket"]> {
  if (range === "1h") return "5m";
  return range === "30d" ? "1d" : "1h";
}

export const chartColors = {
  good: "#2f9e44",
  bad: "#e03131",
  first: "#4e79e6",
  second: "#f08c00",
  third: "#ae3ec9",
};

export interface ChartData {
  times: number[]; // Seconds since 1970.
  series: { label: string; color: string; values: (number | null)[]; kind: "line" | "bars" }[];
  summary: string;
}

type Bucket = Stats["buckets"][number];

const timesOf = (buckets: Bucket[]) => buckets.map((bucket) => Date.parse(bucket.start) / 1_000);

/** Attempts by outcome. To be stacked: together they are all attempts. */
export function outcomeChart(stats: Pick<Stats, "buckets" | "total">): ChartData {
  const { buckets, total } = stats;
  return {
    times: timesOf(buckets),
    series: [
      {
        label: "Succeeded",
        color: chartColors.good,
        kind: "bars",
        values: buckets.map((bucket) => bucket.succeeded),
      },
      {
        label: "Failed",
        color: chartColors.bad,
        kind: "bars",
        values: buckets.map((bucket) => bucket.failed),
      },
    ],
    summary:
      `${formatCount(total.attempts)} attempts, ${formatCount(total.succeeded)} succeeded, ` +
      `${formatCount(total.failed)} failed, success rate ${formatShare(total.success_rate)}.`,
  };
}

export function eventChart(stats: Pick<Stats, "buckets" | "total">): ChartData {
  return {
    times: timesOf(stats.buckets),
    series: [
      {
        label: "Events",
        color: chartColors.first,
        kind: "bars",
        values: stats.buckets.map((bucket) => bucket.published),
      },
    ],
    summary: `${formatCount(stats.total.published)} events were published.`,
  };
}

/** A bucket without attempts has no latency: the line has a gap there. */
export function latencyChart(stats: Pick<Stats, "buckets" | "total">): ChartData {
  const line = (label: "p50" | "p95" | "p99", color: string) => ({
    label,
    color,
    kind: "line" as const,
    values: stats.buckets.map((bucket) => bucket.duration_ms?.[label] ?? null),
  });
  return {
    times: timesOf(stats.buckets),
    series: [
      line("p50", chartColors.first),
      line("p95", chartColors.second),
      line("p99", chartColors.third),
    ],
    summary: latencyWords(stats.total),
  };
}

export function latencyWords(total: Tally): string {
  if (!total.duration_ms) return "There were no attempts.";
  const { p50, p95, p99 } = total.duration_ms;
  return `p50 ${formatDuration(p50)}, p95 ${formatDuration(p95)}, p99 ${formatDuration(p99)}.`;
}

/** `12 / min`: the average over the time range, in the largest unit that gives less than 1,000. */
export function formatRate(count: number, fromTo: { from: string; to: string }): string {
  const seconds = Math.max(1, (Date.parse(fromTo.to) - Date.parse(fromTo.from)) / 1_000);
  const perSecond = count / seconds;
  const digits = (value: number) => formatCount(Number(value.toPrecision(value >= 100 ? 3 : 2)));
  if (perSecond >= 1) return `${digits(perSecond)} / s`;
  if (perSecond * 60 >= 1) return `${digits(perSecond * 60)} / min`;
  return `${digits(perSecond * 3_600)} / h`;
}

export interface Share {
  name: string;
  count: number;
  share: number; // Of all, 0 to 1.
}

/** Failed attempts by category, most frequent first. */
export function failureShares(failures: Record<string, number>): Share[] {
  const total = Object.values(failures).reduce((sum, count) => sum + count, 0);
  return Object.entries(failures)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => ({ name, count, share: count / total }))
    .sort((a, b) => b.count - a.count || a.name.localeCompare(b.name));
}
