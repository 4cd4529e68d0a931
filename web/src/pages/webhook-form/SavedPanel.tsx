import { Button, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";

import { api, body } from "~/api/client.ts";
import type { Webhook } from "~/api/types.ts";
import { Copy } from "~/ui/Copy.tsx";
import { Notice } from "~/ui/Notice.tsx";
import { Problem } from "~/ui/Problem.tsx";

import { TestSend } from "./TestSend.tsx";

export interface Saved {
  webhook: Webhook;
  secret: string | null; // Shown only once.
  isNew: boolean;
  isVerified: boolean; // Whether the URL was to be verified.
}

function SecretBox({ secret, publicKey }: { secret: string; publicKey: string | null }) {
  return (
    <Paper withBorder p="md">
      <Stack gap="xs">
        <Title order={2} size="h4">
          Secret
        </Title>
        <Notice tone="wait" title="Copy the secret now">
          The receiver needs it to verify the signature of each request. It is shown only once here;
          later, the page of the webhook can reveal it, which the audit log records.
        </Notice>
        <Group gap="xs">
          <Text className="mono" data-testid="secret">
            {secret}
          </Text>
          <Copy text={secret} what="the secret" label="Copy secret" />
        </Group>
        {publicKey && (
          <Group gap="xs">
            <Text size="sm">
              Public key: <span className="mono">{publicKey}</span>
            </Text>
            <Copy text={publicKey} what="the public key" />
          </Group>
        )}
      </Stack>
    </Paper>
  );
}

/** What the receiver made of the challenge, and another try. */
function Verification({ first }: { first: Webhook }) {
  const [webhook, setWebhook] = useState(first);
  const queries = useQueryClient();
  const again = useMutation({
    mutationFn: () =>
      body(api.POST("/v1/webhooks/{id}/verify", { params: { path: { id: first.id } } })),
    onSuccess: (changed) => {
      setWebhook(changed);
      void queries.invalidateQueries({ queryKey: ["webhooks"] });
    },
  });
  if (webhook.active) {
    return (
      <Notice role="status" tone="good" title="The URL is verified">
        The receiver repeated the challenge. The webhook is active.
      </Notice>
    );
  }
  return (
    <Notice tone="bad" role="alert" title="The URL could not be verified">
      <Text size="sm">{webhook.disabled_reason}</Text>
      <Text size="sm">The webhook is saved but switched off until its URL is verified.</Text>
      {again.error && <Problem error={again.error} />}
      <Button
        mt="sm"
        size="xs"
        variant="default"
        loading={again.isPending}
        onClick={() => again.mutate()}
      >
        Verify again
      </Button>
    </Notice>
  );
}

/** After saving: what is shown only now, and the next steps. */
export function SavedPanel({ saved, another }: { saved: Saved; another: () => void }) {
  const { webhook, secret, isNew, isVerified } = saved;
  return (
    <Stack maw={760}>
      <Text>
        <bdi>
          <b>{webhook.name ?? webhook.id}</b>
        </bdi>{" "}
        sends to <span className="mono">{webhook.url}</span>.
      </Text>
      {isVerified && <Verification first={webhook} />}
      {secret !== null && <SecretBox secret={secret} publicKey={webhook.public_key} />}
      <Paper withBorder p="md">
        <Stack gap="xs">
          <Title order={2} size="h4">
            Next steps
          </Title>
          <TestSend webhook={webhook} />
          <Group>
            <Button component={Link} href={`/webhooks/${webhook.id}`}>
              Open the webhook
            </Button>
            {isNew && (
              <Button variant="default" onClick={another}>
                Create another
              </Button>
            )}
          </Group>
        </Stack>
      </Paper>
    </Stack>
  );
}
