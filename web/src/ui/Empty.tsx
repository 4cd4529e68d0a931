import { Center, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

/** Instead of an empty table: what would be here, and the next step. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Center py="xl">
      <Stack align="center" gap="xs" maw={480}>
        <Title order={3} size="h4">
          {title}
        </Title>
        {children && (
          <Text component="div" c="dimmed" ta="center">
            {children}
          </Text>
        )}
      </Stack>
    </Center>
  );
}
