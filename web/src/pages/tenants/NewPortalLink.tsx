import { Button, ColorSwatch, Group, Modal, Select, Stack, Text, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { createPortalLink, type PortalLink } from "~/api/portalLinks.ts";
import { fieldMessages } from "~/api/problem.ts";
import type { Tenant } from "~/api/types.ts";
import { plainName } from "~/lib/plainName.ts";
import { Problem } from "~/ui/Problem.tsx";

import { brandColor } from "./tenant.ts";

const linkLives = [
  { value: "60", label: "1 minute" },
  { value: "300", label: "5 minutes" },
];
const sessionLives = [
  { value: "900", label: "15 minutes" },
  { value: "3600", label: "1 hour" },
];

interface Properties {
  tenant: Tenant;
  opened: boolean;
  close: () => void;
  onLink: (link: PortalLink) => void;
}

export function NewPortalLink({ tenant, opened, close, onLink }: Properties) {
  const [role, setRole] = useState<"admin" | "viewer">("admin");
  const [life, setLife] = useState("300");
  const [session, setSession] = useState("3600");
  const [title, setTitle] = useState("");
  const [logo, setLogo] = useState("");
  const [color, setColor] = useState("");
  const branding = {
    ...(title.trim() ? { title: title.trim() } : {}),
    ...(logo.trim() ? { logo_url: logo.trim() } : {}),
    ...(color.trim() ? { primary_color: color.trim() } : {}),
  };
  const create = useMutation({
    mutationFn: () =>
      createPortalLink({
        tenant_id: tenant.id,
        role,
        expires_in_seconds: Number(life),
        session_seconds: Number(session),
        ...(Object.keys(branding).length > 0 ? { branding } : {}),
      }),
    onSuccess: (link) => {
      close();
      onLink(link);
    },
  });
  const messages = fieldMessages(create.error);
  const isColor = color.trim() === "" || brandColor.test(color.trim());
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={`Portal link for ${plainName(tenant.name ?? tenant.id)}`}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
        }}
      >
        <Stack>
          <Select
            label="Role"
            allowDeselect={false}
            value={role}
            error={messages["role"]}
            onChange={(value) => setRole(value as "admin" | "viewer")}
            data={[
              { value: "admin", label: "Admin: read and change" },
              { value: "viewer", label: "Viewer: read" },
            ]}
          />
          <Group grow>
            <Select
              label="Link is valid for"
              allowDeselect={false}
              value={life}
              onChange={(value) => setLife(value ?? "300")}
              data={linkLives}
            />
            <Select
              label="Session lasts"
              allowDeselect={false}
              value={session}
              onChange={(value) => setSession(value ?? "3600")}
              data={sessionLives}
            />
          </Group>
          <Text size="sm" c="dimmed">
            Branding. Empty fields are as the settings say.
          </Text>
          <TextInput
            label="Title"
            value={title}
            error={messages["branding.title"]}
            onChange={(event) => setTitle(event.currentTarget.value)}
          />
          <TextInput
            label="Logo URL"
            placeholder="https://example.com/logo.svg"
            value={logo}
            error={messages["branding.logo_url"]}
            onChange={(event) => setLogo(event.currentTarget.value)}
          />
          <TextInput
            label="Colour"
            placeholder="#2f5fd0"
            value={color}
            error={isColor ? messages["branding.primary_color"] : "Write it as #2f5fd0."}
            rightSection={
              brandColor.test(color.trim()) && <ColorSwatch size={18} color={color.trim()} />
            }
            onChange={(event) => setColor(event.currentTarget.value)}
          />
          {create.error && <Problem error={create.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending} disabled={!isColor}>
              Create link
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
