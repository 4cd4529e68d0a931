import { Button, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";

import { api, body } from "~/api/client.ts";
import type { CountedChannel } from "~/api/types.ts";
import { Copy } from "~/ui/Copy.tsx";
import { useFilters } from "~/ui/filters.ts";
import { Notice } from "~/ui/Notice.tsx";
import { PageTitle } from "~/ui/PageTitle.tsx";

import { ChannelForm } from "./ChannelForm.tsx";
import { type ChannelValues, readNewChannel } from "./channelInput.ts";
import { ChannelTest } from "./ChannelTest.tsx";
import { channelPath, targetWords } from "./channelWords.ts";
import { channelsKey } from "./useChannels.ts";

interface Saved {
  channel: CountedChannel;
  secret: string | null; // One that the server generated.
}

/** Null: it cannot be read. The page of the channel's webhook can still reveal it. */
async function readSecret(webhookId: string): Promise<string | null> {
  const path = { id: webhookId };
  const answer = await body(api.GET("/v1/webhooks/{id}/secret", { params: { path } })).catch(
    () => null,
  );
  return answer?.secret ?? null;
}

async function createChannel(values: ChannelValues): Promise<Saved> {
  const { input } = readNewChannel(values);
  const channel = (await body(
    api.POST("/v1/notification-channels", { body: input }),
  )) as CountedChannel;
  const isGenerated = channel.kind === "webhook" && !input.target.secret;
  const secret = isGenerated && channel.webhook_id ? await readSecret(channel.webhook_id) : null;
  return { channel, secret };
}

function SecretBox({ secret }: { secret: string }) {
  return (
    <Paper withBorder p="md">
      <Stack gap="xs">
        <Title order={2} size="h4">
          Signing secret
        </Title>
        <Notice tone="wait" title="Copy the secret now">
          The receiver needs it to verify the signature of each message. It is shown only once here;
          later, the page of the channel&apos;s webhook can reveal it, which the audit log records.
        </Notice>
        <Group gap="xs">
          <Text className="mono wrap-anywhere" data-testid="secret">
            {secret}
          </Text>
          <Copy text={secret} what="the secret" label="Copy secret" />
        </Group>
      </Stack>
    </Paper>
  );
}

/** After saving: what is shown only now, and the next steps. */
function SavedPanel({ saved, another }: { saved: Saved; another: () => void }) {
  const { channel, secret } = saved;
  const { target } = channel;
  return (
    <Stack maw={760}>
      <Text className="wrap-anywhere">
        <b>{channel.name}</b> sends to <span className="mono">{targetWords(channel)}</span>{" "}
        {"url" in target && target.url && <Copy text={target.url} what="the URL" />}
      </Text>
      {secret !== null && <SecretBox secret={secret} />}
      <Paper withBorder p="md">
        <Stack gap="sm">
          <Title order={2} size="h4">
            Next steps
          </Title>
          <ChannelTest id={channel.id} />
          <Group>
            <Button component={Link} href={channelPath(channel.id)}>
              Open the channel
            </Button>
            <Button variant="default" onClick={another}>
              Create another
            </Button>
          </Group>
        </Stack>
      </Paper>
    </Stack>
  );
}

export default function NewChannelPage() {
  const [filters] = useFilters(["tenant_id"]);
  const [saved, setSaved] = useState<Saved | null>(null);
  const queries = useQueryClient();
  const create = async (values: ChannelValues) => {
    setSaved(await createChannel(values));
    void queries.invalidateQueries({ queryKey: channelsKey });
  };
  return saved ? (
    <>
      <PageTitle title="The channel is created" />
      <SavedPanel saved={saved} another={() => setSaved(null)} />
    </>
  ) : (
    <>
      <PageTitle title="Create a notification channel" />
      <ChannelForm
        existing={null}
        tenantId={filters.tenant_id}
        save={create}
        cancel="/notifications"
      />
    </>
  );
}
