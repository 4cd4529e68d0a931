// The collapsed parts of the form, and which fields of the API each one has.
import type { ComponentType } from "react";

import { DetailsSection } from "./DetailsSection.tsx";
import { FilterSection } from "./FilterSection.tsx";
import type { Messages } from "./formInput.ts";
import { HeadersSection } from "./HeadersSection.tsx";
import { LimitsSection } from "./LimitsSection.tsx";
import { CircuitSection, RetrySection } from "./PolicySections.tsx";
import { RequestSection } from "./RequestSection.tsx";

interface Section {
  id: string;
  title: string;
  fields: string[];
  Content: ComponentType;
}

export const sections: Section[] = [
  { id: "filter", title: "Filter", fields: ["filter"], Content: FilterSection },
  {
    id: "retries",
    title: "Retries and timeout",
    fields: ["retry_config", "timeout_ms"],
    Content: RetrySection,
  },
  {
    id: "circuit",
    title: "Circuit breaker",
    fields: ["circuit_breaker_config"],
    Content: CircuitSection,
  },
  {
    id: "limits",
    title: "Rate, concurrency and order",
    fields: ["rate_limit", "max_in_flight", "ordering_guarantee"],
    Content: LimitsSection,
  },
  {
    id: "request",
    title: "Payload and signature",
    fields: ["payload_format", "payload", "signature", "secret"],
    Content: RequestSection,
  },
  { id: "headers", title: "Custom headers", fields: ["headers"], Content: HeadersSection },
  {
    id: "details",
    title: "State, description and metadata",
    fields: ["active", "description", "resource_id", "owner_id", "owner_email", "metadata"],
    Content: DetailsSection,
  },
];

/** The parts that have a field with an error. */
export function sectionsWith(errors: Messages): string[] {
  const names = Object.keys(errors).map((name) => name.split(/[.[]/, 1)[0] ?? "");
  return sections
    .filter(({ fields }) => fields.some((field) => names.includes(field)))
    .map(({ id }) => id);
}
