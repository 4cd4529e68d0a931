import { Box, SimpleGrid, Text } from "@mantine/core";
import type { ReactNode } from "react";

/** Names and values of one thing. Entries without a value are left out. */
export function Facts({ facts }: { facts: [name: string, value: ReactNode][] }) {
  const shown = facts.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return (
    <SimpleGrid component="dl" cols={{ base: 1, xs: 2, md: 3, xl: 4 }} spacing="md" m={0}>
      {shown.map(([name, value]) => (
        <Box key={name}>
          <Text component="dt" size="xs" c="dimmed">
            {name}
          </Text>
          <Text component="dd" m={0} size="sm" mih={28} style={{ overflowWrap: "anywhere" }}>
            {value}
          </Text>
        </Box>
      ))}
    </SimpleGrid>
  );
}
