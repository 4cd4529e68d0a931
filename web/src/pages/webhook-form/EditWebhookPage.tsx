import { Center, Loader } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation, useParams } from "wouter";

import { api, body } from "~/api/client.ts";
import type { WebhookInput } from "~/api/types.ts";
import { readWebhookWithText } from "~/api/webhookText.ts";
import { plainName } from "~/lib/plainName.ts";
import { allowLeaving } from "~/ui/leaveGuard.ts";
import { PageTitle } from "~/ui/PageTitle.tsx";
import { notifyDone, Problem } from "~/ui/Problem.tsx";

import { type Saved, SavedPanel } from "./SavedPanel.tsx";
import { WebhookForm } from "./WebhookForm.tsx";

export default function EditWebhookPage() {
  const { id = "" } = useParams<{ id: string }>();
  const [, navigate] = useLocation();
  const [saved, setSaved] = useState<Saved | null>(null);
  const queries = useQueryClient();
  const path = { id };
  // The form starts from what was stored when it was opened, and from nothing else.
  const stored = useQuery({
    queryKey: ["webhook-to-edit", id],
    queryFn: () => readWebhookWithText(id),
    staleTime: Infinity,
    gcTime: 0,
    refetchOnReconnect: false,
    refetchOnWindowFocus: false,
  });
  const change = async (text: string) => {
    const input = JSON.parse(text) as WebhookInput;
    const webhook = await body(
      api.PATCH("/v1/webhooks/{id}", { params: { path }, body: input, bodySerializer: () => text }),
    );
    void queries.invalidateQueries({ queryKey: ["webhook"] });
    if (input.verify_url) {
      setSaved({ webhook, secret: null, isNew: false, isVerified: true });
      return;
    }
    notifyDone("The webhook is saved.");
    allowLeaving();
    navigate(`/webhooks/${id}`);
  };
  if (stored.error) return <Problem error={stored.error} retry={() => void stored.refetch()} />;
  if (!stored.data) {
    return (
      <Center h={240}>
        <Loader role="status" aria-label="Loading the webhook" />
      </Center>
    );
  }
  const { name } = stored.data.webhook;
  return (
    <>
      <PageTitle
        title={saved ? "The webhook is saved" : `Edit ${plainName(name ?? "the webhook")}`}
      />
      {saved ? (
        <SavedPanel saved={saved} another={() => undefined} />
      ) : (
        <WebhookForm existing={stored.data} save={change} cancel={`/webhooks/${id}`} />
      )}
    </>
  );
}
