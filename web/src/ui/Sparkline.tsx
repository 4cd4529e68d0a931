/** A small chart of what succeeded and failed: one bar per hour. */
export interface SparkBucket {
  succeeded: number;
  failed: number;
}

const width = 96;
const height = 24;

export function Sparkline({ buckets, label }: { buckets: SparkBucket[]; label: string }) {
  const max = Math.max(1, ...buckets.map((each) => each.succeeded + each.failed));
  const step = width / Math.max(buckets.length, 1);
  return (
    <svg width={width} height={height} role="img" aria-label={label}>
      {buckets.map((each, index) => {
        const good = (each.succeeded / max) * height;
        const bad = (each.failed / max) * height;
        const x = index * step;
        return (
          <g key={index}>
            <rect
              x={x}
              y={height - good}
              width={step * 0.8}
              height={good}
              fill="var(--status-good)"
            />
            <rect
              x={x}
              y={height - good - bad}
              width={step * 0.8}
              height={bad}
              fill="var(--status-bad)"
            />
          </g>
        );
      })}
    </svg>
  );
}
