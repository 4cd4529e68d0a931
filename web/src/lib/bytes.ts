const steps = ["B", "KiB", "MiB", "GiB"];

/** `512 B`, `1.5 KiB`. Pure. */
export function formatBytes(bytes: number): string {
  let size = bytes;
  let step = 0;
  while (size >= 1_024 && step < steps.length - 1) {
    size /= 1_024;
    step += 1;
  }
  return `${step === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${steps[step] ?? ""}`;
}
