// What a newcomer sees until the first webhook exists and the first event was published.
import { Button, Group, Paper, Stack, Text, ThemeIcon, Title } from "@mantine/core";
import { IconCheck } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";

import { api, body } from "~/api/client.ts";
import { useRights } from "~/api/session.tsx";

const waitingRefetchMs = 10_000;

async function readSteps() {
  const query = { limit: 1 };
  const [webhooks, events] = await Promise.all([
    body(api.GET("/v1/webhooks", { params: { query } })),
    body(api.GET("/v1/events", { params: { query } })),
  ]);
  return { webhook: webhooks.data.length > 0, event: events.data.length > 0 };
}

interface StepProperties {
  number: number;
  done: boolean;
  title: string;
  text: string;
  action: ReactNode;
}

function Step({ number, done, title, text, action }: StepProperties) {
  return (
    <Group component="li" gap="md" wrap="nowrap" align="flex-start" data-done={done}>
      <ThemeIcon radius="xl" variant={done ? "filled" : "light"} color={done ? "teal.9" : "brand"}>
        {done ? <IconCheck size={16} aria-label="Done" /> : number}
      </ThemeIcon>
      <div>
        <Text fw={600}>{title}</Text>
        <Text size="sm" c="dimmed" mb={done ? 0 : "xs"}>
          {text}
        </Text>
        {!done && action}
      </div>
    </Group>
  );
}

export function FirstSteps() {
  const rights = useRights();
  const steps = useQuery({
    queryKey: ["first-steps"],
    queryFn: readSteps,
    refetchInterval: ({ state }) =>
      state.data?.webhook && state.data.event ? false : waitingRefetchMs,
  });
  if (!steps.data || (steps.data.webhook && steps.data.event)) return null;
  return (
    <Paper withBorder p="lg" mb="md" component="section" aria-label="First steps">
      <Title order={2} size="h4">
        {steps.data.webhook || steps.data.event ? "One more step" : "Nothing was sent yet"}
      </Title>
      <Text c="dimmed" mb="md">
        Events are published to this server, and it delivers them to webhooks.
      </Text>
      <Stack component="ol" className="plain-list" gap="md">
        <Step
          number={1}
          done={steps.data.webhook}
          title="Create a webhook"
          text="A webhook is a URL that receives events of the types you choose."
          action={
            rights.admin && (
              <Button component={Link} href="/webhooks/new" size="xs">
                Create a webhook
              </Button>
            )
          }
        />
        <Step
          number={2}
          done={steps.data.event}
          title="Publish an event"
          text="Each webhook that matches its type gets a delivery, and this page shows it at once."
          action={
            rights.publish && (
              <Button component={Link} href="/events/new" size="xs" variant="default">
                Publish an event
              </Button>
            )
          }
        />
      </Stack>
    </Paper>
  );
}
