import { Button, Group, Modal, Select, Stack, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, body } from "~/api/client.ts";
import { fieldMessages } from "~/api/problem.ts";
import { useRights, useSession } from "~/api/session.tsx";
import { Problem } from "~/ui/Problem.tsx";

import { expiresAt, expiryChoices } from "./keyExpiry.ts";

type Scope = "admin" | "read" | "publish" | "tenant";
type Role = "admin" | "viewer";

const scopes: { value: Scope; label: string }[] = [
  { value: "admin", label: "Admin: everything" },
  { value: "read", label: "Read: read what all tenants have" },
  { value: "publish", label: "Publish: publish events for any tenant" },
  { value: "tenant", label: "Tenant: the data of one tenant" },
];
const roles: { value: Role; label: string }[] = [
  { value: "admin", label: "Admin: read and change" },
  { value: "viewer", label: "Viewer: read" },
];

interface Properties {
  opened: boolean;
  close: () => void;
  onKey: (key: string) => void;
}

/** Tenants make keys of their own only. */
export function NewKey({ opened, close, onKey }: Properties) {
  const { operator } = useRights();
  const session = useSession();
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const [scope, setScope] = useState<Scope>(operator ? "publish" : "tenant");
  const [role, setRole] = useState<Role>("admin");
  const [tenant, setTenant] = useState(session.tenant_id ?? "");
  const [days, setDays] = useState("");
  const create = useMutation({
    mutationFn: () =>
      body(
        api.POST("/v1/api-keys", {
          body: {
            scope,
            name: name.trim() || undefined,
            ...(scope === "tenant" ? { tenant_id: tenant.trim(), role } : {}),
            expires_at: expiresAt(days, Date.now()) ?? undefined,
          },
        }),
      ),
    onSuccess: (answer) => {
      void queries.invalidateQueries({ queryKey: ["api-keys"] });
      setName("");
      close();
      onKey(answer.key ?? "");
    },
  });
  const messages = fieldMessages(create.error);
  return (
    <Modal opened={opened} onClose={close} title="Create API key">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
        }}
      >
        <Stack>
          <TextInput
            label="Name"
            description="Who or what uses it. The audit log shows this name."
            data-autofocus
            value={name}
            error={messages["name"]}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          {operator && (
            <Select
              label="Scope"
              allowDeselect={false}
              value={scope}
              error={messages["scope"]}
              onChange={(value) => setScope(value as Scope)}
              data={scopes}
            />
          )}
          {operator && scope === "tenant" && (
            <TextInput
              label="Tenant"
              required
              value={tenant}
              error={messages["tenant_id"]}
              onChange={(event) => setTenant(event.currentTarget.value)}
            />
          )}
          {scope === "tenant" && (
            <Select
              label="Role"
              allowDeselect={false}
              value={role}
              error={messages["role"]}
              onChange={(value) => setRole(value as Role)}
              data={roles}
            />
          )}
          <Select
            label="Expires"
            allowDeselect={false}
            value={days}
            error={messages["expires_at"]}
            onChange={(value) => setDays(value ?? "")}
            data={expiryChoices}
          />
          {create.error && <Problem error={create.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending}>
              Create key
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
