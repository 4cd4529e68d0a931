// A chart over time, drawn by uPlot on a canvas. Its summary is what screen readers get.
import { Box, Text, useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef } from "react";
import uPlot from "uplot";

import { formatTime } from "~/lib/format.ts";

import { useTimeZone } from "./preferences.ts";

import "./chart.css";

export interface Series {
  label: string;
  color: string; // A CSS colour.
  values: (number | null)[];
  kind?: "line" | "bars" | "area";
}

interface Properties {
  title: string;
  summary: string; // The same in words.
  times: number[]; // Seconds since 1970.
  series: Series[];
  format?: (value: number) => string;
  height?: number;
  stacked?: boolean; // Each series on top of the one before.
}

const barPaths = () => uPlot.paths.bars?.({ size: [0.8, 40] });

/** Half an event or half a millisecond would be noise. */
const wholeSteps = Array.from({ length: 10 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
).flat();

/** A 24-hour clock at every zoom. The columns are those of uPlot's `axis.values`. */
const timeLabels: uPlot.Axis.Values = [
  [86_400 * 28, "{MMM} {YYYY}", null, null, null, null, null, null, 1],
  [86_400, "{D} {MMM}", null, null, null, null, null, null, 1],
  [60, "{HH}:{mm}", "\n{D} {MMM}", null, "\n{D} {MMM}", null, null, null, 1],
  [1, "{HH}:{mm}:{ss}", "\n{D} {MMM}", null, "\n{D} {MMM}", null, null, null, 1],
];

/**
 * What uPlot draws. Series are drawn in order, so that the last of a stack, which is the lowest,
 * covers the lower part of those before.
 */
function drawnValues(series: Series[], stacked: boolean): (number | null)[][] {
  if (!stacked) return series.map((each) => each.values);
  return series.map((each, index) =>
    each.values.map((_, at) =>
      series.slice(index).reduce((sum, other) => sum + (other.values[at] ?? 0), 0),
    ),
  );
}

export function Chart({
  title,
  summary,
  times,
  series,
  format,
  height = 220,
  stacked = false,
}: Properties) {
  const target = useRef<HTMLDivElement>(null);
  const dark = useComputedColorScheme("light") === "dark";
  const [zone] = useTimeZone();
  const labels = series.map((each) => each.label).join("\n");
  const plot = useRef<uPlot>(null);
  const latest = useRef({ times, series });
  latest.current = { times, series };

  useEffect(() => {
    const element = target.current;
    if (!element) return;
    const text = dark ? "#c9c9c9" : "#495057";
    const grid = dark ? "#ffffff1a" : "#0000001a";
    const axis = { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid } };
    const data = (): uPlot.AlignedData => [
      latest.current.times,
      ...drawnValues(latest.current.series, stacked),
    ];
    const drawn = new uPlot(
      {
        width: element.clientWidth || 400,
        height,
        tzDate: (seconds) =>
          zone === "utc"
            ? uPlot.tzDate(new Date(seconds * 1e3), "Etc/UTC")
            : new Date(seconds * 1e3),
        cursor: { points: { size: 6 } },
        axes: [
          { ...axis, values: timeLabels },
          {
            ...axis,
            size: 64,
            incrs: wholeSteps,
            values: (_, splits) => splits.map((v) => (format ?? String)(v)),
          },
        ],
        scales: { y: { range: (_, min, max) => [Math.min(min, 0), max > 0 ? max * 1.1 : 1] } },
        series: [
          {
            label: "Time",
            value: (_: uPlot, at: number | null) =>
              at === null ? "–" : formatTime(new Date(at * 1e3).toISOString(), zone),
          },
          ...latest.current.series.map((each, index) => ({
            label: each.label,
            stroke: each.color,
            width: each.kind === "bars" ? 0 : 1.5,
            fill:
              each.kind === "line" || !each.kind ? undefined : each.color + (stacked ? "" : "66"),
            paths: each.kind === "bars" ? barPaths() : undefined,
            points: { show: each.kind !== "bars" && latest.current.times.length < 30 },
            value: (_: uPlot, _drawn: number | null, _series: number, at: number | null) => {
              const value = at === null ? null : (latest.current.series[index]?.values[at] ?? null);
              return value === null ? "–" : (format ?? String)(value);
            },
          })),
        ],
      },
      data(),
      element,
    );
    plot.current = drawn;
    const observer = new ResizeObserver(() =>
      drawn.setSize({ width: element.clientWidth, height }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      drawn.destroy();
      plot.current = null;
    };
  }, [dark, zone, labels, height, format, stacked]);

  useEffect(() => {
    plot.current?.setData([times, ...drawnValues(series, stacked)]);
  }, [times, series, stacked]);

  return (
    <Box component="figure" m={0}>
      <Text component="figcaption" fw={600} size="sm" mb={4}>
        {title}
      </Text>
      <div
        ref={target}
        className="chart"
        role="img"
        aria-label={`${title}. ${summary}`}
        style={{ minHeight: height + 30 }}
      />
    </Box>
  );
}
