import { Button, Group, NumberInput, Paper, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, body } from "~/api/client.ts";
import { fieldMessages } from "~/api/problem.ts";
import type { Tenant, TenantLimits } from "~/api/types.ts";
import { notifyDone, Problem } from "~/ui/Problem.tsx";

const fields: {
  name: keyof TenantLimits;
  label: string;
  description: string;
  min: number;
  max: number;
}[] = [
  {
    name: "webhooks_max",
    label: "Webhooks",
    description: "How many it may have",
    min: 0,
    max: 1_000_000,
  },
  {
    name: "events_per_minute",
    label: "Events per minute",
    description: "Empty: no limit",
    min: 0,
    max: 10_000_000,
  },
  {
    name: "timeout_ms_max",
    label: "Longest timeout (ms)",
    description: "Of one attempt",
    min: 10,
    max: 300_000,
  },
  {
    name: "max_in_flight_max",
    label: "Requests at once",
    description: "To one webhook",
    min: 1,
    max: 1_000,
  },
];

export function LimitsForm({ tenant }: { tenant: Tenant }) {
  const queries = useQueryClient();
  const [limits, setLimits] = useState<TenantLimits>(tenant.limits);
  const save = useMutation({
    mutationFn: () =>
      body(
        api.PUT("/v1/tenants/{id}/limits", { params: { path: { id: tenant.id } }, body: limits }),
      ),
    onSuccess: () => {
      notifyDone("The limits are saved and hold from now on.");
      void queries.invalidateQueries({ queryKey: ["tenants"] });
      void queries.invalidateQueries({ queryKey: ["tenant", tenant.id] });
    },
  });
  const messages = fieldMessages(save.error);
  const isChanged = fields.some(({ name }) => limits[name] !== tenant.limits[name]);
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="tenant-limits">
      <Title order={2} size="h4" id="tenant-limits">
        Limits
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        An empty field means the default of the server.
      </Text>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack>
          <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
            {fields.map(({ name, ...field }) => (
              <NumberInput
                key={name}
                {...field}
                allowDecimal={false}
                clampBehavior="blur"
                thousandSeparator=","
                placeholder="Default"
                value={limits[name] ?? ""}
                error={messages[name]}
                onChange={(value) =>
                  setLimits((before) => ({
                    ...before,
                    [name]: typeof value === "number" ? value : null,
                  }))
                }
              />
            ))}
          </SimpleGrid>
          {save.error && <Problem error={save.error} />}
          <Group justify="flex-end">
            <Button type="submit" loading={save.isPending} disabled={!isChanged}>
              Save limits
            </Button>
          </Group>
        </Stack>
      </form>
    </Paper>
  );
}
