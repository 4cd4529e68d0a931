import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";

import { api, body } from "~/api/client.ts";
import type { PortalLink } from "~/api/portalLinks.ts";
import type { Tenant } from "~/api/types.ts";
import { plainName } from "~/lib/plainName.ts";
import { useConfirm } from "~/ui/confirm.tsx";
import { notifyDone, notifyProblem, Problem } from "~/ui/Problem.tsx";
import { ShownOnce } from "~/ui/ShownOnce.tsx";
import { Time } from "~/ui/Time.tsx";

import { NewPortalLink } from "./NewPortalLink.tsx";

function useRefresh(id: string) {
  const queries = useQueryClient();
  return () => {
    void queries.invalidateQueries({ queryKey: ["tenants"] });
    void queries.invalidateQueries({ queryKey: ["tenant", id] });
  };
}

function Suspend({
  tenant,
  opened,
  close,
}: {
  tenant: Tenant;
  opened: boolean;
  close: () => void;
}) {
  const refresh = useRefresh(tenant.id);
  const [reason, setReason] = useState("");
  const suspend = useMutation({
    mutationFn: () =>
      body(
        api.POST("/v1/tenants/{id}/suspend", {
          params: { path: { id: tenant.id } },
          body: { reason: reason.trim() || undefined },
        }),
      ),
    onSuccess: () => {
      notifyDone(`${tenant.id} is suspended.`);
      refresh();
      close();
    },
  });
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={`Suspend ${plainName(tenant.name ?? tenant.id)}?`}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          suspend.mutate();
        }}
      >
        <Stack>
          <Text component="div" size="sm">
            From the next request on:
            <ul>
              <li>Events for the tenant are refused.</li>
              <li>Its deliveries wait. They use no attempts, and nothing is lost.</li>
              <li>Its portal is closed, also for those who are signed in.</li>
              <li>Its API keys still read, and still manage its webhooks.</li>
            </ul>
            You can resume it at any time. Waiting deliveries are then sent.
          </Text>
          <TextInput
            label="Reason"
            description="Shown here and in the audit log."
            data-autofocus
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
          {suspend.error && <Problem error={suspend.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" color="red" loading={suspend.isPending}>
              Suspend tenant
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function useResume(tenant: Tenant) {
  const refresh = useRefresh(tenant.id);
  return useMutation({
    mutationFn: () =>
      body(api.POST("/v1/tenants/{id}/resume", { params: { path: { id: tenant.id } }, body: {} })),
    onSuccess: () => {
      notifyDone(`${tenant.id} is resumed. Its waiting deliveries are being sent.`);
      refresh();
    },
    onError: notifyProblem,
  });
}

function useDelete(tenant: Tenant) {
  const confirm = useConfirm();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const remove = useMutation({
    mutationFn: () =>
      body(
        api.DELETE("/v1/tenants/{id}", {
          params: { path: { id: tenant.id }, query: { force: true } },
        }),
      ),
    onSuccess: () => {
      notifyDone(`${tenant.id} is deleted.`);
      navigate("/tenants");
      queries.removeQueries({ queryKey: ["tenant", tenant.id] });
      void queries.invalidateQueries({ queryKey: ["tenants"] });
    },
    onError: notifyProblem,
  });
  return async () => {
    const yes = await confirm({
      title: `Delete ${plainName(tenant.name ?? tenant.id)}?`,
      action: "Delete tenant",
      typeToConfirm: tenant.id,
      consequences:
        "Its webhooks, API keys and portal links are deleted and its waiting deliveries are " +
        "cancelled. Published events stay until they expire. This cannot be undone. To stop " +
        "everything for a while, suspend the tenant instead.",
    });
    if (yes) remove.mutate();
  };
}

export function TenantActions({ tenant }: { tenant: Tenant }) {
  const [linking, linkDialog] = useDisclosure();
  const [suspending, suspendDialog] = useDisclosure();
  const [link, setLink] = useState<PortalLink | null>(null);
  const resume = useResume(tenant);
  const remove = useDelete(tenant);
  const isSuspended = tenant.suspended_at !== null;
  return (
    <>
      {!isSuspended && <Button onClick={linkDialog.open}>Create portal link</Button>}
      {isSuspended ? (
        <Button loading={resume.isPending} onClick={() => resume.mutate()}>
          Resume
        </Button>
      ) : (
        <Button variant="default" onClick={suspendDialog.open}>
          Suspend
        </Button>
      )}
      <Button variant="default" c="var(--mantine-color-error)" onClick={() => void remove()}>
        Delete
      </Button>
      <NewPortalLink tenant={tenant} opened={linking} close={linkDialog.close} onLink={setLink} />
      <Suspend tenant={tenant} opened={suspending} close={suspendDialog.close} />
      <ShownOnce
        title="The portal link"
        what="the link"
        text={link?.url ?? null}
        onClose={() => setLink(null)}
      >
        It works once, until <Time at={link?.expires_at} exact />. Whoever opens it is signed in as
        a user of {tenant.name ?? tenant.id}.
      </ShownOnce>
    </>
  );
}
