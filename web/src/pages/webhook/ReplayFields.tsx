import { Button, Checkbox, Group, NumberInput, TagsInput, TextInput } from "@mantine/core";

import { useCatalogue } from "~/api/catalogue.ts";
import { formatWord } from "~/lib/format.ts";
import { toInput } from "~/lib/inputTime.ts";
import { useTimeZone } from "~/ui/preferences.ts";

import { type ReplayForm, replayStates } from "./replayForm.ts";

const presets = [
  { label: "Last hour", ms: 3_600_000 },
  { label: "Last 24 hours", ms: 86_400_000 },
  { label: "Last 7 days", ms: 7 * 86_400_000 },
];

interface Properties {
  form: ReplayForm;
  edit: (changes: Partial<ReplayForm>) => void;
}

function Period({ form, edit }: Properties) {
  const [zone] = useTimeZone();
  const note = zone === "utc" ? "UTC" : "Local time";
  return (
    <>
      <Group gap="xs">
        {presets.map(({ label, ms }) => (
          <Button
            key={label}
            size="compact-sm"
            variant="default"
            onClick={() => edit({ since: toInput(Date.now() - ms, zone, "seconds"), until: "" })}
          >
            {label}
          </Button>
        ))}
      </Group>
      <Group align="flex-start" grow preventGrowOverflow={false}>
        <TextInput
          type="datetime-local"
          step={1}
          label="Published from"
          description={note}
          value={form.since}
          onChange={(event) => edit({ since: event.currentTarget.value })}
        />
        <TextInput
          type="datetime-local"
          step={1}
          label="Until"
          description={`${note}; empty means now`}
          value={form.until}
          onChange={(event) => edit({ until: event.currentTarget.value })}
        />
      </Group>
    </>
  );
}

export function ReplayFields({ form, edit }: Properties) {
  const types = useCatalogue();
  return (
    <>
      <Period form={form} edit={edit} />
      <Checkbox.Group
        label="Deliveries that are"
        value={form.states}
        onChange={(states) => edit({ states })}
      >
        <Group mt={4}>
          {replayStates.map((state) => (
            <Checkbox key={state} value={state} label={formatWord(state)} />
          ))}
        </Group>
      </Checkbox.Group>
      <TagsInput
        label="Event types"
        description="Names or patterns such as order.*; empty means all"
        data={(types.data ?? []).map((each) => each.name)}
        value={form.types}
        onChange={(chosen) => edit({ types: chosen })}
        limit={50}
      />
      <NumberInput
        label="At most per second"
        description="Empty means as fast as the webhook's limits allow"
        min={1}
        max={10_000}
        allowDecimal={false}
        value={form.rate ?? ""}
        onChange={(rate) => edit({ rate: typeof rate === "number" ? rate : null })}
      />
    </>
  );
}
