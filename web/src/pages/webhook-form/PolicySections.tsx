import { Stack } from "@mantine/core";

import { useSchedule } from "./formContext.tsx";
import { circuitPolicy, retryPolicy } from "./policies.ts";
import { PolicyFields, PresetSelect } from "./PolicyFields.tsx";
import { RetrySchedule } from "./RetrySchedule.tsx";

export function RetrySection() {
  return (
    <Stack gap="sm">
      <PresetSelect policy={retryPolicy} />
      <RetrySchedule schedule={useSchedule()} />
      <PolicyFields policy={retryPolicy} />
    </Stack>
  );
}

export function CircuitSection() {
  return (
    <Stack gap="sm">
      <PresetSelect policy={circuitPolicy} />
      <PolicyFields policy={circuitPolicy} />
    </Stack>
  );
}
