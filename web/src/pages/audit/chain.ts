// The result of the chain check, in words. Pure.
import { formatCount } from "~/lib/format.ts";

export interface ChainResult {
  holds: boolean;
  checked: number;
  last_sequence: number;
  head: string;
  broken_at: number | null;
}

export const chainStart: ChainResult = {
  holds: true,
  checked: 0,
  last_sequence: 0,
  head: "",
  broken_at: null,
};

export const addPart = (before: ChainResult, part: ChainResult): ChainResult => ({
  holds: part.holds,
  checked: before.checked + part.checked,
  last_sequence: part.last_sequence || before.last_sequence,
  head: part.head || before.head,
  broken_at: part.broken_at,
});

export function chainWords(result: ChainResult): string {
  if (!result.holds) {
    return (
      `Entry ${formatCount(result.broken_at ?? 0)} does not follow from the one before it. ` +
      "Somebody altered or removed an entry in the store. Everything before it is unchanged."
    );
  }
  if (result.checked === 0) return "The audit log has no entries yet.";
  return (
    `All ${formatCount(result.checked)} entries up to number ` +
    `${formatCount(result.last_sequence)} follow from each other: none was altered or removed. ` +
    "Keep the head elsewhere to detect later whether entries were cut off at the end."
  );
}
