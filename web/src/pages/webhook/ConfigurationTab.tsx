import { Button, Group, Paper, SimpleGrid, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "wouter";

import { useRights } from "~/api/session.tsx";
import type { Webhook } from "~/api/types.ts";
import { Code } from "~/ui/Code.tsx";
import { Id } from "~/ui/Copy.tsx";
import { FactList } from "~/ui/FactList.tsx";
import { Time } from "~/ui/Time.tsx";

import { breakerFacts, deliveryFacts, retryFacts, signatureFacts } from "./configurationFacts.ts";

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Paper withBorder p="md" component="section" aria-label={title}>
      <Title order={2} size="h5" mb="sm">
        {title}
      </Title>
      {children}
    </Paper>
  );
}

const isEmpty = (value: object | null) => value === null || Object.keys(value).length === 0;

function General({ hook, operator }: { hook: Webhook; operator: boolean }) {
  return (
    <FactList
      items={[
        ["Id", <Id key="i" value={hook.id} />],
        ["Name", hook.name],
        [
          "URL",
          <span key="u" className="mono">
            {hook.url}
          </span>,
        ],
        [
          "Events",
          <span key="e" className="mono">
            {hook.events.join(", ")}
          </span>,
        ],
        ["Description", hook.description],
        ["Tenant", operator ? hook.tenant_id : undefined],
        ["Resource", hook.resource_id],
        ["Owner", hook.owner_id],
        ["E-mail of the owner", hook.owner_email],
        ["Created", <Time key="c" at={hook.created_at} exact />],
        ["Changed", <Time key="d" at={hook.updated_at} exact />],
      ]}
    />
  );
}

function Json({ title, value }: { title: string; value: object | null }) {
  return (
    <Part title={title}>
      {isEmpty(value) ? (
        <Text size="sm" c="dimmed">
          None.
        </Text>
      ) : (
        <Code text={JSON.stringify(value)} label={title.toLowerCase()} />
      )}
    </Part>
  );
}

/** The values in force, defaults included. */
export function ConfigurationTab({ hook }: { hook: Webhook }) {
  const rights = useRights();
  return (
    <>
      {rights.admin && (
        <Group justify="flex-end" mb="sm">
          <Button component={Link} href={`/webhooks/${hook.id}/edit`} size="xs">
            Edit configuration
          </Button>
        </Group>
      )}
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="sm">
        <Part title="General">
          <General hook={hook} operator={rights.operator} />
        </Part>
        <Part title="Delivery">
          <FactList items={deliveryFacts(hook)} />
        </Part>
        <Part title="Retries">
          <FactList items={retryFacts(hook.retry_config)} />
        </Part>
        <Part title="Circuit breaker">
          <FactList items={breakerFacts(hook.circuit_breaker_config)} />
        </Part>
        <Part title="Signature">
          <FactList items={signatureFacts(hook)} />
        </Part>
        <Json title="Headers" value={hook.headers} />
        <Json title="Filter" value={hook.filter} />
        <Json title="Metadata" value={hook.metadata} />
      </SimpleGrid>
    </>
  );
}
