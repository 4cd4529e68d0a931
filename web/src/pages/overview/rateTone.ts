/** How worrying a success rate is. */
export function rateTone(rate: number | null): "good" | "wait" | "bad" | undefined {
  if (rate === null) return undefined;
  if (rate >= 0.99) return "good";
  return rate >= 0.9 ? "wait" : "bad";
}
