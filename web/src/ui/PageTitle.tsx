import { Group, Title } from "@mantine/core";
import type { ReactNode } from "react";

import { useDocumentTitle } from "./documentTitle.ts";

/** The heading of a page, with its actions at the right. It is also the title of the tab. */
export function PageTitle({ title, children }: { title: string; children?: ReactNode }) {
  useDocumentTitle(title);
  return (
    <Group justify="space-between" mb="md" align="flex-start">
      <Title order={1} size="h2" maw="100%" style={{ overflowWrap: "anywhere" }}>
        <bdi>{title}</bdi>
      </Title>
      {children && <Group gap="xs">{children}</Group>}
    </Group>
  );
}
