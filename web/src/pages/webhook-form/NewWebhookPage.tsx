import { useState } from "react";

import { api, body } from "~/api/client.ts";
import type { WebhookInput } from "~/api/types.ts";
import { PageTitle } from "~/ui/PageTitle.tsx";

import { type Saved, SavedPanel } from "./SavedPanel.tsx";
import { WebhookForm } from "./WebhookForm.tsx";

type Creation = WebhookInput & { url: string; events: string[] };

export default function NewWebhookPage() {
  const [saved, setSaved] = useState<Saved | null>(null);
  const create = async (text: string) => {
    const input = JSON.parse(text) as Creation;
    const created = await body(
      api.POST("/v1/webhooks", { body: input, bodySerializer: () => text }),
    );
    const isVerified = input.verify_url === true;
    setSaved({ webhook: created, secret: created.secret ?? null, isNew: true, isVerified });
  };
  if (saved) {
    return (
      <>
        <PageTitle title="The webhook is created" />
        <SavedPanel saved={saved} another={() => setSaved(null)} />
      </>
    );
  }
  return (
    <>
      <PageTitle title="Create a webhook" />
      <WebhookForm existing={null} save={create} cancel="/webhooks" />
    </>
  );
}
