import { createContext, useContext } from "react";

import type { CatalogueEntry } from "~/api/catalogue.ts";
import type { Webhook } from "~/api/types.ts";
import type { PlannedRetry, WebhookPreview } from "~/api/webhookPreview.ts";

import type { FormValues } from "./formValues.ts";

/** What every part of the form needs. */
export interface FormParts {
  values: FormValues;
  set: (changes: Partial<FormValues>) => void;
  error: (field: string) => string | undefined; // By the API's name of the field.
  existing: Webhook | null; // Null: a new webhook.
  preview: WebhookPreview | undefined; // Of the latest values that the server accepted.
  catalogue: CatalogueEntry[];
}

const FormContext = createContext<FormParts | null>(null);
export const FormProvider = FormContext.Provider;

export function useForm(): FormParts {
  const form = useContext(FormContext);
  if (!form) throw new Error("There is no form.");
  return form;
}

/** The webhook with all defaults, which the placeholders show. */
export const useEffective = (): Webhook | undefined => useForm().preview?.webhook;
export const useSchedule = (): PlannedRetry[] | undefined => useForm().preview?.retry_schedule;

type TextName = {
  [Name in keyof FormValues]: FormValues[Name] extends string ? Name : never;
}[keyof FormValues];

/** The properties of an input for one text of the form. */
export function useText(name: TextName, field: string = name) {
  const { values, set, error } = useForm();
  return {
    name: field,
    value: values[name],
    error: error(field),
    onChange: (event: { currentTarget: { value: string } }) =>
      set({ [name]: event.currentTarget.value }),
  };
}

/** The same for a choice; nothing chosen is the default. */
export function useChoice(name: TextName, field: string = name) {
  const { values, set, error } = useForm();
  return {
    name: field,
    value: values[name] || null,
    error: error(field),
    onChange: (value: string | null) => set({ [name]: value ?? "" }),
  };
}
