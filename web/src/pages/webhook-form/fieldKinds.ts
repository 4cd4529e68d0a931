// Values of policies as texts that people type. An empty text stands for the default. Pure.
import { parseDuration, writeDuration } from "~/lib/duration.ts";

export type FieldKind =
  | "text"
  | "integer"
  | "number"
  | "attempts" // A number, or `auto`.
  | "share" // A percentage; the API has a fraction of 1.
  | "duration" // The API has milliseconds.
  | "durations"
  | "statuses"
  | "flag"
  | "choice"
  | "time";

export type Read = { value: unknown } | { error: string };

const isNumber = (text: string) => /^-?\d+(\.\d+)?$/.test(text);

function readList(text: string, read: (item: string) => number | null, error: string): Read {
  const items = text.split(",").map((item) => item.trim());
  const values = items.filter((item) => item !== "").map(read);
  return values.includes(null) ? { error } : { value: values };
}

function readDuration(text: string): Read {
  const value = parseDuration(text);
  return value === null
    ? { error: "Use a duration such as 500 ms, 30 s or 1 h 30 min." }
    : { value };
}

function readNumber(text: string): Read {
  return isNumber(text) ? { value: Number(text) } : { error: "Must be a number." };
}

function readShare(text: string): Read {
  const digits = text.replace(/\s*%$/, "");
  if (!isNumber(digits)) return { error: "Use a percentage such as 10 %." };
  return { value: Number((Number(digits) / 100).toFixed(6)) };
}

function readTime(text: string): Read {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return { error: "Use a time such as 2026-01-31T12:00:00Z." };
  return { value: time.toISOString() };
}

/** The value of a text that is not empty. */
export function readField(kind: FieldKind, typed: string): Read {
  const text = typed.trim();
  switch (kind) {
    case "integer":
    case "number":
      return readNumber(text);
    case "attempts":
      return text === "auto" ? { value: text } : readNumber(text);
    case "share":
      return readShare(text);
    case "duration":
      return readDuration(text);
    case "durations":
      return readList(text, parseDuration, "Use durations with commas between: 30 s, 5 min.");
    case "statuses":
      return readList(
        text,
        (item) => (/^\d+$/.test(item) ? Number(item) : null),
        "Use numbers with commas between: 400, 410.",
      );
    case "flag":
      return { value: text === "true" };
    case "time":
      return readTime(text);
    case "text":
    case "choice":
      return { value: text };
  }
}

/** The text of a value; `readField` gives the same value back. */
export function writeField(kind: FieldKind, value: unknown): string {
  if (value === null || value === undefined) return "";
  if (kind === "duration") return writeDuration(value as number);
  if (kind === "durations") return (value as number[]).map(writeDuration).join(", ");
  if (kind === "statuses") return (value as number[]).join(", ");
  if (kind === "share") return `${Number(((value as number) * 100).toFixed(4))} %`;
  return String(value as string | number | boolean);
}
