import { Stack, Text, Title } from "@mantine/core";
import { useState } from "react";

import type { DeliveryDetail } from "~/api/types.ts";

import { AttemptCard } from "./AttemptCard.tsx";

/** The timeline, newest first. The newest attempt is open until the visitor closes it. */
export function Attempts({ delivery }: { delivery: DeliveryDetail }) {
  const attempts = [...delivery.attempts].sort((a, b) => b.number - a.number);
  const newest = attempts[0]?.number;
  const [toggled, setToggled] = useState(new Map<number, boolean>());
  const isOpen = (number: number) => toggled.get(number) ?? number === newest;
  const toggle = (number: number) => setToggled(new Map(toggled).set(number, !isOpen(number)));
  return (
    <section aria-labelledby="attempts-title">
      <Title order={2} size="h4" mt="lg" mb="sm" id="attempts-title">
        Attempts
      </Title>
      {attempts.length === 0 ? (
        <Text c="dimmed">The delivery has not been attempted yet.</Text>
      ) : (
        <Stack gap="sm" component="ol" className="plain-list">
          {attempts.map((attempt) => (
            <AttemptCard
              key={attempt.id}
              attempt={attempt}
              delivery={delivery}
              opened={isOpen(attempt.number)}
              toggle={() => toggle(attempt.number)}
            />
          ))}
        </Stack>
      )}
    </section>
  );
}
