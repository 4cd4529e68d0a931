const pad = (value: number) => value.toString().padStart(2, "0");

/** `1 d 02:03:04`, `02:03:04`: down to the second, so that it is seen to run. */
export function formatCountdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  const days = Math.floor(seconds / 86_400);
  const clock = [
    pad(Math.floor((seconds % 86_400) / 3_600)),
    pad(Math.floor((seconds % 3_600) / 60)),
    pad(seconds % 60),
  ].join(":");
  return days > 0 ? `${days} d ${clock}` : clock;
}
