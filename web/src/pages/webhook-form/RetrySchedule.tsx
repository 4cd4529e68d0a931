import { List, Text } from "@mantine/core";

import type { PlannedRetry } from "~/api/webhookPreview.ts";

import { describeRetry, describeSchedule, drawSchedule, type Point } from "./schedule.ts";

const height = 68;
const middle = 30;
const left = 3; // Percent that stay free at both ends.

const x = (share: number) => left + share * (100 - 2 * left);
const percent = (share: number) => `${x(share)}%`;

/** Numbers that would overlap are left out. */
function numbered(points: Point[]): Set<number> {
  const shown = new Set<number>();
  let before = -1;
  for (const { attempt, at } of points) {
    if (at - before < 0.05) continue;
    shown.add(attempt);
    before = at;
  }
  return shown;
}

/** When a delivery that always fails is sent again. */
export function RetrySchedule({ schedule }: { schedule: PlannedRetry[] | undefined }) {
  if (!schedule) return <div className="retry-drawing" />;
  const { points, ticks } = drawSchedule(schedule);
  const withNumber = numbered(points);
  const words = describeSchedule(schedule);
  return (
    <div className="retry-drawing">
      <Text size="sm">{words}</Text>
      <svg width="100%" height={height} role="img" aria-label={`Retry schedule. ${words}`}>
        <line x1={percent(0)} x2={percent(1)} y1={middle} y2={middle} className="retry-line" />
        {ticks.map(({ label, at }) => (
          <g key={label}>
            <line x1={percent(at)} x2={percent(at)} y1={middle} y2={48} className="retry-line" />
            <text x={percent(at)} y={62} className="retry-text">
              {label}
            </text>
          </g>
        ))}
        {points.map((point) => (
          <g key={point.attempt}>
            <rect
              x={percent(point.from)}
              width={`${x(point.to) - x(point.from)}%`}
              y={middle - 7}
              height={14}
              className="retry-jitter"
            />
            <circle cx={percent(point.at)} cy={middle} r={4.5} className="retry-point" />
            {withNumber.has(point.attempt) && (
              <text x={percent(point.at)} y={14} className="retry-text">
                {point.attempt}
              </text>
            )}
          </g>
        ))}
      </svg>
      {schedule.length > 0 && (
        <details>
          <summary>All retries</summary>
          <List size="sm" mt="xs" mah={220} className="scrolled" tabIndex={0}>
            {schedule.map((retry) => (
              <List.Item key={retry.attempt}>{describeRetry(retry)}</List.Item>
            ))}
          </List>
        </details>
      )}
    </div>
  );
}
