// The filters of dead letters: in the address bar, in lists, and in operations. Pure.
import type { BatchFilter } from "~/api/deadLetterOperations.ts";
import type { GroupBy } from "~/api/deadLetterGroups.ts";
import { rangeTimes } from "~/lib/timeRange.ts";
import type { Filters } from "~/ui/filters.ts";

export const filterNames = [
  "webhook_id",
  "event_type",
  "failure_category",
  "classification",
  "age",
  "tenant_id",
  "range",
  "from",
  "to",
  "by",
  "operation",
  "cursor",
] as const;

export type DeadLetterFilters = Filters<(typeof filterNames)[number]>;

export interface DeadLetterQuery {
  webhook_id?: string;
  event_type?: string;
  failure_category?: string;
  classification?: "permanent" | "recoverable";
  age?: Age;
  tenant_id?: string;
  from?: string;
  to?: string;
}

const ages = { lt_1h: "Less than 1 hour", "1h_24h": "1 to 24 hours", gt_24h: "More than 24 hours" };
export type Age = keyof typeof ages;
const isAge = (text: string | undefined): text is Age => text !== undefined && text in ages;

export const ageChoices = Object.entries(ages).map(([value, label]) => ({ value, label }));
export const ageWords = (age: string) => (isAge(age) ? ages[age] : age);

export const groupChoices: { value: GroupBy; label: string }[] = [
  { value: "webhook", label: "Webhook" },
  { value: "failure_category", label: "Failure" },
  { value: "event_type", label: "Event type" },
  { value: "age", label: "Age" },
  { value: "classification", label: "Classification" },
];

export function groupBy(filters: DeadLetterFilters): GroupBy {
  return groupChoices.find(({ value }) => value === filters.by)?.value ?? "webhook";
}

/** The filter that a group of this kind sets. */
export const filterOfGroup = (by: GroupBy) => (by === "webhook" ? "webhook_id" : by);

/** The query of GET /v1/dlq and of a discard. */
export function deadLetterQuery(filters: DeadLetterFilters, now: number): DeadLetterQuery {
  const { classification, age, range, from, to } = filters;
  return {
    webhook_id: filters.webhook_id,
    event_type: filters.event_type,
    failure_category: filters.failure_category,
    tenant_id: filters.tenant_id,
    ...(classification === "permanent" || classification === "recoverable"
      ? { classification }
      : {}),
    ...(isAge(age) ? { age } : {}),
    ...rangeTimes({ range, from, to }, now),
  };
}

export const isNarrowed = (query: DeadLetterQuery) =>
  Object.values(query).some((value) => value !== undefined);

const hourMs = 3_600_000;

/** The same selection for a bulk retry, which takes times instead of an age. */
export function batchFilter(query: DeadLetterQuery, now: number): BatchFilter {
  const list = (text: string | undefined) => text?.split(",").map((word) => word.trim());
  const time = (hours: number) => new Date(now - hours * hourMs).toISOString();
  const bounds: Record<Age, [from: string | undefined, to: string | undefined]> = {
    lt_1h: [time(1), undefined],
    "1h_24h": [time(24), time(1)],
    gt_24h: [undefined, time(24)],
  };
  const [from, to] = query.age ? bounds[query.age] : [undefined, undefined];
  return {
    webhook_ids: list(query.webhook_id),
    event_types: list(query.event_type),
    failure_categories: list(query.failure_category) as BatchFilter["failure_categories"],
    classification: query.classification,
    tenant_id: query.tenant_id,
    from: later(query.from, from),
    to: earlier(query.to, to),
  };
}

const compared = (a: string | undefined, b: string | undefined, wanted: number) => {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.sign(Date.parse(a) - Date.parse(b)) === wanted ? a : b;
};
const later = (a: string | undefined, b: string | undefined) => compared(a, b, 1);
const earlier = (a: string | undefined, b: string | undefined) => compared(a, b, -1);
