import { Anchor, Text } from "@mantine/core";
import { Link } from "wouter";

/** The way from one thing to the list of its kind, above the title. */
export function BackTo({ href, label }: { href: string; label: string }) {
  return (
    <Text size="sm" mb={4}>
      <Anchor component={Link} href={href} size="sm">
        {label}
      </Anchor>
    </Text>
  );
}
