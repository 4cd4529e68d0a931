import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useRef } from "react";

import { type CatalogueEntry, exampleText } from "~/api/catalogue.ts";
import { fieldMessages } from "~/api/problem.ts";
import { previewWebhook, type WebhookPreview } from "~/api/webhookPreview.ts";
import { isJson } from "~/lib/json.ts";
import { RawJson, writeJson } from "~/lib/rawJson.ts";

import { type FormReading, type Messages, previewable } from "./formInput.ts";
import type { FormValues } from "./formValues.ts";
import { exampleType } from "./selection.ts";

const typingMs = 400;
const otherData = '{\n  "example": true\n}';

/** What the visitor chose; null: the form chooses. */
export interface ChosenExample {
  type: string | null;
  data: string | null;
}

export interface Example {
  type: string;
  data: string;
}

/** The example of the catalogue for a type that the webhook receives, unless one was typed. */
export function exampleOf(
  chosen: ChosenExample,
  events: string[],
  catalogue: CatalogueEntry[],
): Example {
  const names = catalogue.map((entry) => entry.name);
  const type = chosen.type ?? exampleType(events, names);
  return { type, data: chosen.data ?? exampleText(catalogue, type) ?? otherData };
}

export interface PreviewState {
  preview: WebhookPreview | undefined; // The latest one that the server could make.
  errors: Messages;
  problem: unknown; // Not about a field.
  isBehind: boolean; // The values have changed since.
}

/** Asks the server what the form would make, when the visitor stops typing. */
export function usePreview(
  reading: FormReading,
  values: FormValues,
  webhookId: string | undefined,
  example: Example,
  isReady: boolean, // False: the example is still being loaded.
): PreviewState {
  const resource_id = values.resource_id.trim() || undefined;
  const hasData = isJson(example.data);
  const text = useMemo(() => {
    const event = { type: example.type, data: new RawJson(example.data), resource_id };
    return writeJson({
      webhook: previewable(reading, values),
      webhook_id: webhookId,
      event: hasData ? event : undefined,
    });
  }, [reading, values, webhookId, example.type, example.data, resource_id, hasData]);
  const [asked] = useDebouncedValue(text, typingMs);
  const query = useQuery({
    queryKey: ["webhook-preview", asked],
    queryFn: ({ signal }) => previewWebhook(asked, signal),
    enabled: isReady,
    staleTime: Infinity,
    gcTime: 0,
    placeholderData: undefined,
  });
  const latest = useRef<WebhookPreview>(undefined);
  if (query.data) latest.current = query.data;
  const errors = fieldMessages(query.error);
  if (values.url.trim() === "") delete errors["url"];
  const isField = Object.keys(errors).length > 0;
  return {
    preview: latest.current,
    errors,
    problem: isField ? null : query.error,
    isBehind: asked !== text || query.isFetching || query.isError,
  };
}
