import { Group, Title } from "@mantine/core";
import type { ReactNode } from "react";

/** The heading of a page, with its actions at the right. */
export function PageTitle({ title, children }: { title: ReactNode; children?: ReactNode }) {
  return (
    <Group justify="space-between" mb="md" align="flex-start">
      <Title order={1} size="h2" maw="100%" style={{ overflowWrap: "anywhere" }}>
        {title}
      </Title>
      {children && <Group gap="xs">{children}</Group>}
    </Group>
  );
}
