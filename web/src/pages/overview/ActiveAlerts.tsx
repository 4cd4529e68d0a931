import { Anchor, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { Link } from "wouter";

import type { Alert } from "~/api/types.ts";
import { formatWord } from "~/lib/format.ts";
import { Problem } from "~/ui/Problem.tsx";
import { Status } from "~/ui/Status.tsx";
import { Time } from "~/ui/Time.tsx";

const shown = 5;

function AlertLine({ alert }: { alert: Alert }) {
  return (
    <Group component="li" gap="sm" wrap="nowrap" align="flex-start">
      <span className="alert-severity">
        <Status value={alert.severity} />
      </span>
      <div className="alert-words">
        <Text size="sm">{alert.detail}</Text>
        <Text size="xs" c="dimmed">
          {formatWord(alert.kind)} · <Time at={alert.raised_at} />
          {alert.webhook_id && (
            <>
              {" · "}
              <Anchor component={Link} href={`/webhooks/${alert.webhook_id}`} size="xs">
                {alert.webhook_name ?? alert.webhook_url ?? alert.webhook_id}
              </Anchor>
            </>
          )}
        </Text>
      </div>
    </Group>
  );
}

/** Nothing is shown while there are no alerts: the number above says so. */
export function ActiveAlerts({ alerts, error }: { alerts: Alert[] | undefined; error: unknown }) {
  if (error) return <Problem error={error} />;
  if (!alerts || alerts.length === 0) return null;
  return (
    <Paper withBorder p="md" mt="md">
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h4">
          Active alerts
        </Title>
        <Anchor component={Link} href="/alerts" size="sm">
          All alerts
        </Anchor>
      </Group>
      <Stack component="ul" gap="sm" className="plain-list" aria-label="Active alerts">
        {alerts.slice(0, shown).map((alert) => (
          <AlertLine key={alert.id} alert={alert} />
        ))}
      </Stack>
    </Paper>
  );
}
