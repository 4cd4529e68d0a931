export const expiryChoices = [
  { value: "", label: "Never" },
  { value: "1", label: "After a day" },
  { value: "7", label: "After 7 days" },
  { value: "30", label: "After 30 days" },
  { value: "90", label: "After 90 days" },
  { value: "365", label: "After a year" },
];

const dayMs = 86_400_000;

/** The end of a key that is valid for so many days; null for ever. Pure. */
export function expiresAt(days: string, now: number): string | null {
  return days === "" ? null : new Date(now + Number(days) * dayMs).toISOString();
}
