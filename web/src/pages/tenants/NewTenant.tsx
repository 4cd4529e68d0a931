import { Button, Group, Modal, Stack, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";

import { api, body } from "~/api/client.ts";
import { fieldMessages } from "~/api/problem.ts";
import { notifyDone, Problem } from "~/ui/Problem.tsx";

import { tenantPath } from "./tenant.ts";

export function NewTenant({ opened, close }: { opened: boolean; close: () => void }) {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const [id, setId] = useState("");
  const [name, setName] = useState("");
  const register = useMutation({
    mutationFn: () =>
      body(
        api.POST("/v1/tenants", {
          body: { id: id.trim() || undefined, name: name.trim() || undefined },
        }),
      ),
    onSuccess: (tenant) => {
      notifyDone(`The tenant ${tenant.id} is registered.`);
      void queries.invalidateQueries({ queryKey: ["tenants"] });
      navigate(tenantPath(tenant.id));
    },
  });
  const messages = fieldMessages(register.error);
  return (
    <Modal opened={opened} onClose={close} title="Register tenant">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          register.mutate();
        }}
      >
        <Stack>
          <TextInput
            label="Id"
            description="Letters, digits and . _ : @ - as your own systems name it. Empty: generated."
            data-autofocus
            value={id}
            error={messages["id"]}
            onChange={(event) => setId(event.currentTarget.value)}
          />
          <TextInput
            label="Name"
            value={name}
            error={messages["name"]}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          {register.error && <Problem error={register.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={register.isPending}>
              Register
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
