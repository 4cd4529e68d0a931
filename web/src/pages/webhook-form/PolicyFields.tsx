import { Select, SimpleGrid, TextInput } from "@mantine/core";

import { writeField } from "./fieldKinds.ts";
import { useEffective, useForm } from "./formContext.tsx";
import { emptyPolicy } from "./formValues.ts";
import { memberOf, type Policy, type PolicyField } from "./policies.ts";

const flags = [
  { value: "true", label: "On" },
  { value: "false", label: "Off" },
];

/** What is in force if the field stays empty. */
function usePlaceholder(policy: Policy, field: PolicyField): string {
  const config = useEffective()?.[policy.name];
  const text = writeField(field.kind, memberOf(config, field.name));
  const choices = field.kind === "flag" ? flags : field.choices;
  return choices?.find((each) => each.value === text)?.label ?? text;
}

function PolicyInput({ policy, field }: { policy: Policy; field: PolicyField }) {
  const { values, set, error } = useForm();
  const placeholder = usePlaceholder(policy, field);
  const own = values[policy.name];
  const change = (value: string) => set({ [policy.name]: { ...own, [field.name]: value } });
  const common = {
    label: field.label,
    description: field.hint,
    placeholder,
    name: `${policy.name}.${field.name}`,
    error: error(`${policy.name}.${field.name}`),
    inputWrapperOrder: ["label", "input", "description", "error"] as (
      "label" | "input" | "description" | "error"
    )[],
  };
  if (field.kind === "flag" || field.choices) {
    return (
      <Select
        {...common}
        data={field.choices ?? flags}
        clearable
        value={own[field.name] || null}
        onChange={(value) => change(value ?? "")}
      />
    );
  }
  return (
    <TextInput
      {...common}
      value={own[field.name] ?? ""}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}

/** All fields of a policy. An empty field shows the default as its placeholder. */
export function PolicyFields({ policy }: { policy: Policy }) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
      {policy.fields.map((field) => (
        <PolicyInput key={field.name} policy={policy} field={field} />
      ))}
    </SimpleGrid>
  );
}

/** A preset replaces the whole policy, so the fields beside it become empty. */
export function PresetSelect({ policy }: { policy: Policy }) {
  const { values, set, error } = useForm();
  const preset = memberOf(useEffective()?.[policy.name], "preset");
  return (
    <Select
      label="Preset"
      placeholder={typeof preset === "string" ? `Default: ${preset}` : "Custom"}
      data={policy.presets ?? []}
      clearable
      name={`${policy.name}.preset`}
      value={values[policy.name]["preset"] || null}
      error={error(`${policy.name}.preset`)}
      onChange={(value) => set({ [policy.name]: emptyPolicy(policy, value ?? "") })}
    />
  );
}
