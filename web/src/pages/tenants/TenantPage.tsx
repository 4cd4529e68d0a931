import { Paper, Skeleton, Stack, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "wouter";

import { api, body } from "~/api/client.ts";
import type { Tenant } from "~/api/types.ts";
import { BackTo } from "~/ui/BackTo.tsx";
import { Code } from "~/ui/Code.tsx";
import { Id } from "~/ui/Copy.tsx";
import { Facts } from "~/ui/Facts.tsx";
import { LoadProblem } from "~/ui/LoadProblem.tsx";
import { Notice } from "~/ui/Notice.tsx";
import { PageTitle } from "~/ui/PageTitle.tsx";
import { Status } from "~/ui/Status.tsx";
import { Time } from "~/ui/Time.tsx";

import { ContactsForm } from "./ContactsForm.tsx";
import { LimitsForm } from "./LimitsForm.tsx";
import { tenantState } from "./tenant.ts";
import { TenantActions } from "./TenantActions.tsx";
import { TenantWebhooks } from "./TenantWebhooks.tsx";

export default function TenantPage() {
  const id = decodeURIComponent(useParams<{ id: string }>().id); // An id may have : and @.
  const read = useQuery({
    queryKey: ["tenant", id],
    queryFn: () =>
      body(api.GET("/v1/tenants/{id}", { params: { path: { id } } })) as Promise<Tenant>,
    placeholderData: undefined,
  });
  if (read.error) {
    return (
      <LoadProblem
        error={read.error}
        retry={() => void read.refetch()}
        what="tenant"
        why="It may have been deleted, or was never registered."
        list={{ href: "/tenants", label: "Show all tenants" }}
      />
    );
  }
  if (!read.data) return <Skeleton height={420} aria-label="Loading the tenant" />;
  const tenant = read.data;
  const hasMetadata = Object.keys(tenant.metadata).length > 0;
  return (
    <>
      <BackTo href="/tenants" label="Tenants" />
      <PageTitle title={tenant.name ?? tenant.id}>
        <TenantActions tenant={tenant} />
      </PageTitle>
      <Stack gap="lg">
        {tenant.suspended_at && (
          <Notice tone="bad" title="This tenant is suspended">
            Since <Time at={tenant.suspended_at} exact />
            {tenant.suspended_reason ? `: ${tenant.suspended_reason}` : "."} Its events are refused,
            its deliveries wait, and its portal is closed.
          </Notice>
        )}
        <Paper withBorder p="md">
          <Facts
            facts={[
              ["Id", <Id key="id" value={tenant.id} />],
              ["State", <Status key="state" value={tenantState(tenant)} />],
              ["Pool", tenant.pool],
              ["Registered", <Time key="at" at={tenant.created_at} exact />],
            ]}
          />
        </Paper>
        <LimitsForm key={JSON.stringify(tenant.limits)} tenant={tenant} />
        <ContactsForm key={JSON.stringify(tenant.contacts)} tenant={tenant} />
        <TenantWebhooks tenantId={tenant.id} />
        {hasMetadata && (
          <section aria-labelledby="tenant-metadata">
            <Title order={2} size="h4" id="tenant-metadata">
              Metadata
            </Title>
            <Code text={JSON.stringify(tenant.metadata)} label="metadata" />
          </section>
        )}
      </Stack>
    </>
  );
}
