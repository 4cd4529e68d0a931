import { Autocomplete, Fieldset, Radio, SimpleGrid, Stack, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { api, body } from "~/api/client.ts";
import { useRights } from "~/api/session.tsx";
import type { Page, Tenant } from "~/api/types.ts";

import { useForm, useText } from "./formContext.tsx";
import type { Verify } from "./formValues.ts";

function TenantInput() {
  const { existing, values, set, error } = useForm();
  const tenants = useQuery({
    queryKey: ["tenants", "first"],
    queryFn: () =>
      body(api.GET("/v1/tenants", { params: { query: { limit: 250 } } })) as Promise<Page<Tenant>>,
    enabled: existing === null,
  });
  return (
    <Autocomplete
      label="Tenant"
      description={existing ? "Cannot be changed" : "Only its events are received"}
      name="tenant_id"
      readOnly={existing !== null}
      limit={20}
      data={(tenants.data?.data ?? []).map((tenant) => tenant.id)}
      value={values.tenant_id}
      error={error("tenant_id")}
      onChange={(tenant_id) => set({ tenant_id })}
    />
  );
}

function VerifyChoice() {
  const { values, set } = useForm();
  return (
    <Radio.Group
      label="Verify the URL"
      description="Sends a challenge, which the receiver must repeat."
      value={values.verify}
      onChange={(verify) => set({ verify: verify as Verify })}
    >
      <Stack gap={6} mt={6}>
        <Radio value="no" label="Do not verify" />
        <Radio value="verify" label="Verify, and switch the webhook off if that fails" />
        <Radio value="require" label="Verify, and save nothing if that fails" />
      </Stack>
    </Radio.Group>
  );
}

/** Who receives. */
export function BasicFields() {
  const rights = useRights();
  return (
    <Fieldset legend="Receiver">
      <Stack gap="sm">
        <TextInput
          label="URL"
          placeholder="https://example.com/hooks"
          withAsterisk
          inputMode="url"
          maxLength={2048}
          {...useText("url")}
        />
        <SimpleGrid cols={{ base: 1, sm: rights.operator ? 2 : 1 }} spacing="sm">
          <TextInput
            label="Name"
            description="For people"
            placeholder="Orders to the shop"
            {...useText("name")}
          />
          {rights.operator && <TenantInput />}
        </SimpleGrid>
        <VerifyChoice />
      </Stack>
    </Fieldset>
  );
}
