import { PasswordInput, Select, SimpleGrid, Stack } from "@mantine/core";

import { useChoice, useEffective, useForm, useText } from "./formContext.tsx";
import { signaturePolicy } from "./policies.ts";
import { PolicyFields } from "./PolicyFields.tsx";

const formats = ["standard", "exchange", "platform", "workspace", "tenant", "raw"].map((value) => ({
  value,
  label: value === "raw" ? "raw: only the data of the event" : value,
}));

const forms = [
  { value: "verbatim", label: "Verbatim: the data byte for byte" },
  { value: "compact", label: "Compact: as JSON.stringify writes it" },
  { value: "sorted", label: "Sorted: as Python's sort_keys writes it" },
];

function SecretInput() {
  const { existing } = useForm();
  return (
    <PasswordInput
      label={existing ? "New secret" : "Your own secret"}
      description={
        existing
          ? "Replaces the secret at once. To give the receiver time to switch, rotate the secret on the page of the webhook instead."
          : "Empty: the server makes one and shows it once."
      }
      autoComplete="off"
      maxLength={255}
      {...useText("secret")}
    />
  );
}

/** How the request looks and is signed. The preview shows it. */
export function RequestSection() {
  const effective = useEffective();
  const form = forms.find((each) => each.value === effective?.payload.form);
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        <Select
          label="Payload format"
          placeholder={effective?.payload_format}
          clearable
          data={formats}
          {...useChoice("payload_format")}
        />
        <Select
          label="Payload form"
          placeholder={form?.label}
          clearable
          data={forms}
          {...useChoice("payload_form", "payload.form")}
        />
      </SimpleGrid>
      <PolicyFields policy={signaturePolicy} />
      <SecretInput />
    </Stack>
  );
}
