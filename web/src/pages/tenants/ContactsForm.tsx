import { Button, Group, Paper, Stack, TagsInput, Text, Title } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, body } from "~/api/client.ts";
import { fieldMessages } from "~/api/problem.ts";
import type { Tenant } from "~/api/types.ts";
import { itemMessage } from "~/lib/fieldMessage.ts";
import { notifyDone, Problem } from "~/ui/Problem.tsx";

const contactsMax = 20;

/** Whom notification channels with `to_contacts` tell about the tenant. */
export function ContactsForm({ tenant }: { tenant: Tenant }) {
  const queries = useQueryClient();
  const [contacts, setContacts] = useState<string[]>(tenant.contacts);
  const save = useMutation({
    mutationFn: () =>
      body(
        api.PUT("/v1/tenants/{id}/contacts", {
          params: { path: { id: tenant.id } },
          body: { contacts },
        }),
      ),
    onSuccess: () => {
      notifyDone("The contacts are saved.");
      void queries.invalidateQueries({ queryKey: ["tenant", tenant.id] });
    },
  });
  const isChanged = JSON.stringify(contacts) !== JSON.stringify(tenant.contacts);
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="tenant-contacts">
      <Title order={2} size="h4" id="tenant-contacts">
        Contacts
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        Notification channels with &ldquo;Contacts of the tenant&rdquo; send to these addresses.
      </Text>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack>
          <TagsInput
            label="E-mail addresses"
            description={`At most ${contactsMax}. Press Enter after each one.`}
            placeholder={contacts.length > 0 ? undefined : "ops@example.com"}
            splitChars={[",", ";", " "]}
            maxTags={contactsMax}
            value={contacts}
            error={itemMessage(fieldMessages(save.error), "contacts", contacts)}
            onChange={setContacts}
          />
          {save.error && <Problem error={save.error} />}
          <Group justify="flex-end">
            <Button type="submit" loading={save.isPending} disabled={!isChanged}>
              Save contacts
            </Button>
          </Group>
        </Stack>
      </form>
    </Paper>
  );
}
