import { Button, Group, Paper, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { api, body } from "~/api/client.ts";
import type { Webhook } from "~/api/types.ts";
import { Copy } from "~/ui/Copy.tsx";
import { Notice } from "~/ui/Notice.tsx";
import { Problem } from "~/ui/Problem.tsx";
import { Time } from "~/ui/Time.tsx";

import { OldSecrets } from "./OldSecrets.tsx";
import { RotateForm, type Rotated } from "./RotateForm.tsx";

const hideAfterMs = 60_000;
const hidden = "••••••••••••••••••••••••";

interface Known {
  secret: string | null; // null: hidden again.
  isNew: boolean;
  old: Rotated["old_secrets"];
}

/** The secret is in the memory of this component only, and not for long. */
function useKnownSecret() {
  const [known, setKnown] = useState<Known | null>(null);
  const secret = known?.secret ?? null;
  useEffect(() => {
    if (secret === null) return;
    const timer = window.setTimeout(
      () => setKnown((current) => current && { ...current, secret: null }),
      hideAfterMs,
    );
    return () => window.clearTimeout(timer);
  }, [secret]);
  return [known, setKnown] as const;
}

function SecretText({ known, onHide }: { known: Known | null; onHide: () => void }) {
  if (!known?.secret) {
    return (
      <Text className="mono" aria-label="The secret is hidden">
        {hidden}
      </Text>
    );
  }
  return (
    <Stack gap="xs">
      {known.isNew && (
        <Notice tone="good" title="This is the new secret" role="status">
          Give it to the receiver before the old one ends.
        </Notice>
      )}
      <Group gap="xs" wrap="nowrap">
        <Text className="mono wrap-anywhere" data-testid="secret">
          {known.secret}
        </Text>
        <Copy text={known.secret} what="the secret" />
      </Group>
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={onHide}>
          Hide
        </Button>
        <Text size="xs" c="dimmed">
          It is hidden again after a minute.
        </Text>
      </Group>
    </Stack>
  );
}

function PublicKey({ text }: { text: string }) {
  return (
    <div>
      <Text size="sm" fw={600}>
        Public key
      </Text>
      <Group gap="xs" wrap="nowrap">
        <Text className="mono wrap-anywhere">{text}</Text>
        <Copy text={text} what="the public key" />
      </Group>
      <Text size="xs" c="dimmed">
        Receivers verify with this key. It is not secret.
      </Text>
    </div>
  );
}

export function SecretTab({ hook }: { hook: Webhook }) {
  const [known, setKnown] = useKnownSecret();
  const keep = (answer: Rotated, isNew: boolean) => {
    setKnown({ secret: answer.secret ?? null, isNew, old: answer.old_secrets });
  };
  const reveal = useMutation({
    mutationFn: () =>
      body(api.GET("/v1/webhooks/{id}/secret", { params: { path: { id: hook.id } } })),
    onSuccess: (answer) => keep(answer, false),
    gcTime: 0,
  });
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
      <Paper withBorder p="md">
        <Stack gap="sm">
          <Title order={2} size="h5">
            Secret
          </Title>
          <Text size="sm" c="dimmed">
            Set <Time at={hook.secret_set_at ?? hook.created_at} />. Every reveal is recorded in the
            audit log.
          </Text>
          <SecretText
            known={known}
            onHide={() => setKnown((current) => current && { ...current, secret: null })}
          />
          {!known?.secret && (
            <div>
              <Button
                size="xs"
                variant="default"
                loading={reveal.isPending}
                onClick={() => reveal.mutate()}
              >
                Reveal
              </Button>
            </div>
          )}
          {reveal.error && <Problem error={reveal.error} />}
          {hook.public_key && <PublicKey text={hook.public_key} />}
          {known && <OldSecrets old={known.old} />}
        </Stack>
      </Paper>
      <RotateForm hook={hook} onRotated={(answer) => keep(answer, true)} />
    </SimpleGrid>
  );
}
