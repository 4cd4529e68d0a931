import { Checkbox, Fieldset, PasswordInput, Stack, TagsInput, TextInput } from "@mantine/core";

import type { ChannelKind } from "~/api/types.ts";

import type { FieldsProperties } from "./ChannelForm.tsx";
import { MailServerNotice } from "./MailServerNotice.tsx";

const addressesMax = 20;

const urlWords: Record<Exclude<ChannelKind, "email">, { description: string; example: string }> = {
  slack: {
    description: "Of the incoming webhook that Slack shows in the settings of an app",
    example: "https://hooks.slack.com/services/…",
  },
  teams: {
    description: "Of the workflow that posts to a Teams channel when a webhook request arrives",
    example: "https://….logic.azure.com/workflows/…",
  },
  webhook: { description: "Receives signed events", example: "https://example.com/alerts" },
};

function EmailFields({ values, set, error }: FieldsProperties) {
  return (
    <>
      <MailServerNotice />
      <TagsInput
        label="Addresses"
        description={`At most ${addressesMax}. Press Enter after each one.`}
        placeholder={values.to.length > 0 ? undefined : "ops@example.com"}
        splitChars={[",", ";", " "]}
        maxTags={addressesMax}
        value={values.to}
        error={error("target.to", values.to)}
        onChange={(to) => set({ to })}
      />
      <Checkbox
        label="Owner of the webhook"
        description="The owner's e-mail address of the webhook that an alert is about"
        checked={values.to_owner}
        onChange={(event) => set({ to_owner: event.currentTarget.checked })}
      />
      <Checkbox
        label="Contacts of the tenant"
        description="The contacts of the tenant that an alert is about"
        checked={values.to_contacts}
        onChange={(event) => set({ to_contacts: event.currentTarget.checked })}
      />
    </>
  );
}

function UrlFields({ values, set, error, isNew }: FieldsProperties) {
  if (values.kind === "email") return null;
  const { description, example } = urlWords[values.kind];
  return (
    <>
      <TextInput
        label="URL"
        description={description}
        placeholder={example}
        withAsterisk
        inputMode="url"
        maxLength={2048}
        value={values.url}
        error={error("target.url")}
        onChange={(event) => set({ url: event.currentTarget.value })}
      />
      {values.kind === "webhook" && (
        <PasswordInput
          label="Signing secret"
          description={
            isNew
              ? "Empty: the server generates one and shows it after saving."
              : "Empty: the secret stays as it is."
          }
          autoComplete="new-password"
          visibilityToggleButtonProps={{ "aria-label": "Show or hide the secret" }}
          value={values.secret}
          error={error("target.secret")}
          onChange={(event) => set({ secret: event.currentTarget.value })}
        />
      )}
    </>
  );
}

/** Where messages go. */
export function TargetFields(props: FieldsProperties) {
  return (
    <Fieldset legend="Sends to">
      <Stack gap="sm">
        {props.values.kind === "email" ? <EmailFields {...props} /> : <UrlFields {...props} />}
      </Stack>
    </Fieldset>
  );
}
