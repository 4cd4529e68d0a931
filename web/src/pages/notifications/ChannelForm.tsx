import {
  Autocomplete,
  Button,
  Fieldset,
  Group,
  Radio,
  SimpleGrid,
  Stack,
  TextInput,
} from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type SyntheticEvent, useEffect, useMemo, useRef, useState } from "react";
import { Link } from "wouter";

import { api, body } from "~/api/client.ts";
import { fieldMessages } from "~/api/problem.ts";
import { useRights } from "~/api/session.tsx";
import type { ChannelKind, NotificationChannel, Page, Tenant } from "~/api/types.ts";
import { itemMessage } from "~/lib/fieldMessage.ts";
import { useLeaveGuard } from "~/ui/leaveGuard.ts";
import { Problem } from "~/ui/Problem.tsx";

import {
  channelValues,
  type ChannelValues,
  emptyChannel,
  type Messages,
  readChangedChannel,
  readNewChannel,
} from "./channelInput.ts";
import { channelKinds } from "./channelWords.ts";
import { ChoiceFields, PaceFields } from "./ChoiceFields.tsx";
import { TargetFields } from "./TargetFields.tsx";

export interface FieldsProperties {
  values: ChannelValues;
  set: (changes: Partial<ChannelValues>) => void;
  error: (field: string, items?: string[]) => string | undefined; // By the API's name.
  isNew: boolean;
}

function TenantInput({ values, set, error, isNew }: FieldsProperties) {
  const tenants = useQuery({
    queryKey: ["tenants", "first"],
    queryFn: () =>
      body(api.GET("/v1/tenants", { params: { query: { limit: 250 } } })) as Promise<Page<Tenant>>,
    enabled: isNew,
  });
  return (
    <Autocomplete
      label="Tenant"
      description={isNew ? "Empty: the server, with alerts of all tenants" : "Cannot be changed"}
      placeholder="The server"
      readOnly={!isNew}
      limit={20}
      data={(tenants.data?.data ?? []).map((tenant) => tenant.id)}
      value={values.tenant_id}
      error={error("tenant_id")}
      onChange={(tenant_id) => set({ tenant_id })}
    />
  );
}

function KindChoice({ values, set, error }: FieldsProperties) {
  return (
    <Radio.Group
      label="Kind"
      value={values.kind}
      error={error("kind")}
      onChange={(kind) => set({ kind: kind as ChannelKind })}
    >
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs" mt={6}>
        {Object.entries(channelKinds).map(([value, words]) => (
          <Radio key={value} value={value} {...words} />
        ))}
      </SimpleGrid>
    </Radio.Group>
  );
}

function ChannelFields(props: FieldsProperties) {
  const { operator } = useRights();
  const { values, set, error, isNew } = props;
  return (
    <Fieldset legend="Channel">
      <Stack gap="sm">
        {isNew && <KindChoice {...props} />}
        <SimpleGrid cols={{ base: 1, sm: operator ? 2 : 1 }} spacing="sm">
          <TextInput
            label="Name"
            description="Messages show it"
            placeholder="On call"
            withAsterisk
            maxLength={200}
            value={values.name}
            error={error("name")}
            onChange={(event) => set({ name: event.currentTarget.value })}
          />
          {operator && <TenantInput {...props} />}
        </SimpleGrid>
      </Stack>
    </Fieldset>
  );
}

interface Properties {
  existing: NotificationChannel | null; // Null: a new channel.
  tenantId?: string; // Of a new channel.
  save: (values: ChannelValues, start: ChannelValues) => Promise<void>;
  cancel: string; // A path.
}

export function ChannelForm({ existing, tenantId = "", save, cancel }: Properties) {
  const start = useMemo(
    () => (existing ? channelValues(existing) : { ...emptyChannel(), tenant_id: tenantId }),
    [existing, tenantId],
  );
  const [values, setValues] = useState(start);
  const [shown, setShown] = useState<Messages>({}); // What was wrong at the last try.
  const element = useRef<HTMLFormElement>(null);
  const saving = useMutation({ mutationFn: () => save(values, start) });
  const isChanged = JSON.stringify(values) !== JSON.stringify(start);
  useLeaveGuard(isChanged && !saving.isSuccess);

  const messages = { ...fieldMessages(saving.error), ...shown };
  const goToError = () =>
    window.setTimeout(() => {
      element.current?.querySelector<HTMLElement>("[aria-invalid='true']")?.focus();
    }, 50);
  useEffect(() => {
    if (saving.error) goToError();
  }, [saving.error]);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    const { errors } = existing ? readChangedChannel(values, start) : readNewChannel(values);
    setShown(errors);
    if (Object.keys(errors).length > 0) goToError();
    else saving.mutate();
  };
  const fields: FieldsProperties = {
    values,
    set: (changes) => {
      setShown({});
      setValues((before) => ({ ...before, ...changes }));
    },
    error: (field, items) => itemMessage(messages, field, items),
    isNew: existing === null,
  };
  return (
    <form ref={element} noValidate onSubmit={submit}>
      <Stack maw={820}>
        <ChannelFields {...fields} />
        <TargetFields {...fields} />
        <ChoiceFields {...fields} />
        <PaceFields {...fields} />
        {saving.error && <Problem error={saving.error} />}
        <Group>
          <Button
            type="submit"
            loading={saving.isPending}
            disabled={existing !== null && !isChanged}
          >
            {existing ? "Save changes" : "Create channel"}
          </Button>
          <Button component={Link} href={cancel} variant="default">
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
