import { Select, SimpleGrid, Stack, TextInput } from "@mantine/core";

import { useChoice, useEffective, useForm, useText } from "./formContext.tsx";
import type { RateUnit } from "./formValues.ts";
import { rateWords } from "./summaries.ts";

const orders = [
  { value: "none", label: "None: as fast as possible" },
  { value: "per_event_type", label: "Per event type" },
  { value: "strict", label: "Strict: one at a time" },
];

const rateUnits = [
  { value: "requests_per_second", label: "Requests per second" },
  { value: "requests_per_minute", label: "Requests per minute" },
];

function RateFields() {
  const { values, set } = useForm();
  const effective = useEffective();
  const rate = useText("rate", `rate_limit.${values.rate_unit}`);
  const burst = useText("burst", "rate_limit.burst");
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="sm">
      <Select
        label="Rate limit"
        placeholder={`Default: ${rateWords(effective?.rate_limit ?? null)}`}
        clearable
        data={rateUnits}
        value={values.rate_unit || null}
        onChange={(unit) => set({ rate_unit: (unit ?? "") as RateUnit })}
      />
      {values.rate_unit !== "" && (
        <>
          <TextInput label="Requests" withAsterisk {...rate} />
          <TextInput
            label="Burst"
            placeholder={String(effective?.rate_limit?.burst ?? "")}
            {...burst}
          />
        </>
      )}
    </SimpleGrid>
  );
}

export function LimitsSection() {
  const effective = useEffective();
  const order = orders.find((each) => each.value === effective?.ordering_guarantee);
  return (
    <Stack gap="sm">
      <RateFields />
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        <TextInput
          label="Requests in flight at most"
          placeholder={String(effective?.max_in_flight ?? "")}
          {...useText("max_in_flight")}
        />
        <Select
          label="Order"
          placeholder={order?.label}
          clearable
          data={orders}
          {...useChoice("ordering_guarantee")}
        />
      </SimpleGrid>
    </Stack>
  );
}
