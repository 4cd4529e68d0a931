import { Anchor, Box, Button, Group, Text } from "@mantine/core";
import { IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";

import { useRights } from "~/api/session.tsx";
import type { StreamState } from "~/api/stream.ts";
import type { Webhook } from "~/api/types.ts";
import { formatCount } from "~/lib/format.ts";
import { plainName } from "~/lib/plainName.ts";
import { webhookState } from "~/pages/webhooks/webhookState.ts";
import { BackTo } from "~/ui/BackTo.tsx";
import { useConfirm } from "~/ui/confirm.tsx";
import { Copy } from "~/ui/Copy.tsx";
import { StreamBadge } from "~/ui/StreamBadge.tsx";
import { Notice } from "~/ui/Notice.tsx";
import { PageTitle } from "~/ui/PageTitle.tsx";
import { notifyProblem } from "~/ui/Problem.tsx";
import { Status } from "~/ui/Status.tsx";
import { Time } from "~/ui/Time.tsx";

import { useDeleteWebhook, useWebhookAction } from "./actions.ts";
import { readHealth } from "./queries.ts";

type RunAction = ReturnType<typeof useWebhookAction>;

function consequences(waiting: number) {
  return (
    <>
      {waiting === 0
        ? "No delivery is waiting. "
        : `${formatCount(waiting)} waiting ${waiting === 1 ? "delivery is" : "deliveries are"} cancelled. `}
      The URL gets no more events, and the secrets are deleted. Deliveries and attempts stay in the
      history. This cannot be undone.
    </>
  );
}

function Actions({ hook, action }: { hook: Webhook; action: RunAction }) {
  const confirm = useConfirm();
  const [, navigate] = useLocation();
  const remove = useDeleteWebhook(hook.id, () => navigate("/webhooks"));
  const askAndRemove = async () => {
    try {
      const { deliveries } = await readHealth(hook.id);
      const question = {
        title: `Delete ${plainName(hook.name ?? "this webhook")}?`,
        consequences: consequences(deliveries.pending + deliveries.retrying),
        action: "Delete webhook",
      };
      if (await confirm(question)) remove.mutate();
    } catch (error) {
      notifyProblem(error);
    }
  };
  return (
    <>
      {hook.active && (
        <Button
          variant="default"
          loading={action.isPending}
          leftSection={hook.paused ? <IconPlayerPlay size={16} /> : <IconPlayerPause size={16} />}
          onClick={() => action.mutate(hook.paused ? "resume" : "pause")}
        >
          {hook.paused ? "Resume" : "Pause"}
        </Button>
      )}
      {!hook.active && (
        <Button loading={action.isPending} onClick={() => action.mutate("activate")}>
          Activate
        </Button>
      )}
      <Button variant="default" component={Link} href={`/webhooks/${hook.id}/edit`}>
        Edit
      </Button>
      <Button
        variant="default"
        c="var(--status-bad)"
        loading={remove.isPending}
        onClick={() => void askAndRemove()}
      >
        Delete
      </Button>
    </>
  );
}

/** Why the webhook gets nothing, if so, and what was missed. */
function Notes({ hook, missedSince }: { hook: Webhook; missedSince: string | null }) {
  return (
    <Box className="notes">
      {!hook.active && hook.disabled_reason && (
        <Notice tone="bad" title="The server has disabled this webhook">
          {hook.disabled_reason} <Time at={hook.disabled_at} />. Repair the receiver, then activate
          the webhook.
        </Notice>
      )}
      {missedSince && (
        <Notice tone="wait" title="Events may have been missed">
          Nothing is sent again by itself.{" "}
          <Anchor
            component={Link}
            href={`/webhooks/${hook.id}?tab=replay&since=${encodeURIComponent(missedSince)}`}
          >
            Replay what happened meanwhile
          </Anchor>
        </Notice>
      )}
    </Box>
  );
}

export function WebhookHeader({ hook, live }: { hook: Webhook; live: StreamState }) {
  const rights = useRights();
  const [missedSince, setMissedSince] = useState<string | null>(null);
  const action = useWebhookAction(hook.id, setMissedSince);
  return (
    <>
      <BackTo href="/webhooks" label="Webhooks" />
      <PageTitle title={hook.name ?? "Webhook"}>
        {rights.admin && <Actions hook={hook} action={action} />}
      </PageTitle>
      <Group gap="xs" mb="md" mt={-8}>
        <Group gap={4} wrap="nowrap" className="wrap-anywhere">
          <Text span size="sm" c="dimmed" className="mono">
            {hook.url}
          </Text>
          <Copy text={hook.url} what="the URL" />
        </Group>
        <Status value={webhookState(hook)} />
        {hook.circuit && (
          <Status
            value={hook.circuit.state}
            label={`circuit ${hook.circuit.state.replace("_", " ")}`}
          />
        )}
        {rights.operator && hook.tenant_id && (
          <Text span size="sm" c="dimmed">
            Tenant <bdi>{hook.tenant_id}</bdi>
          </Text>
        )}
        <StreamBadge state={live} />
      </Group>
      <Notes hook={hook} missedSince={missedSince} />
    </>
  );
}
