import {
  ActionIcon,
  Badge,
  Button,
  Checkbox,
  Fieldset,
  Group,
  Paper,
  Stack,
  Text,
  TextInput,
} from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useState } from "react";

import type { EventTypeEntry } from "~/api/types.ts";
import { isPattern } from "~/lib/eventPattern.ts";

import { useForm } from "./formContext.tsx";
import { coveredBy, describePattern, groupTypes, matchedTypes, toggled } from "./selection.ts";

const shownMax = 200;
const searchFrom = 12;

function TypeBox({ entry }: { entry: EventTypeEntry }) {
  const { values, set } = useForm();
  const cover = coveredBy(entry.name, values.events);
  return (
    <Checkbox
      label={<span className="mono">{entry.name}</span>}
      description={cover ? `Included in ${cover}` : entry.description}
      checked={cover !== undefined || values.events.includes(entry.name)}
      disabled={cover !== undefined}
      onChange={() => set({ events: toggled(values.events, entry.name) })}
    />
  );
}

function Catalogue({ entries }: { entries: EventTypeEntry[] }) {
  const { values, set } = useForm();
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  const groups = groupTypes([...byName.keys()].slice(0, shownMax));
  return (
    <Stack gap="sm">
      {groups.map((group) => (
        <div key={group.name}>
          {group.types.length > 1 && (
            <Checkbox
              mb={6}
              label={
                <>
                  All of <span className="mono">{group.pattern}</span>
                </>
              }
              checked={values.events.includes(group.pattern) || values.events.includes("*")}
              disabled={values.events.includes("*")}
              onChange={() => set({ events: toggled(values.events, group.pattern) })}
            />
          )}
          <Stack gap={6} ml={group.types.length > 1 ? "lg" : 0}>
            {group.types.map((type) => {
              const entry = byName.get(type);
              return entry && <TypeBox key={type} entry={entry} />;
            })}
          </Stack>
        </div>
      ))}
      {entries.length > shownMax && (
        <Text size="sm" c="dimmed">
          {entries.length - shownMax} more. Search to see them.
        </Text>
      )}
    </Stack>
  );
}

function CatalogueList() {
  const { catalogue } = useForm();
  const [search, setSearch] = useState("");
  const wanted = search.trim().toLowerCase();
  const found = catalogue.filter((entry) => entry.name.toLowerCase().includes(wanted));
  if (catalogue.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        The catalogue has no event types. Enter names or patterns below.
      </Text>
    );
  }
  return (
    <div>
      {catalogue.length > searchFrom && (
        <TextInput
          aria-label="Search the catalogue"
          placeholder="Search the catalogue"
          mb="xs"
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
      )}
      <Paper
        withBorder
        p="sm"
        mah={520}
        className="scrolled"
        tabIndex={0}
        role="group"
        aria-label="Event types of the catalogue"
      >
        {found.length === 0 ? "No event type matches." : <Catalogue entries={found} />}
      </Paper>
    </div>
  );
}

function PatternInput() {
  const { values, set, catalogue } = useForm();
  const [typed, setTyped] = useState("");
  const pattern = typed.trim();
  const types = catalogue.map((entry) => entry.name);
  const add = () => {
    if (!isPattern(pattern)) return;
    if (!values.events.includes(pattern)) set({ events: toggled(values.events, pattern) });
    setTyped("");
  };
  return (
    <div>
      <Group gap="xs" align="flex-end" wrap="nowrap">
        <TextInput
          flex={1}
          label="Add a name or pattern"
          placeholder="order.*"
          maxLength={256}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            add();
          }}
        />
        <Button variant="default" onClick={add} disabled={!isPattern(pattern)}>
          Add
        </Button>
      </Group>
      <Text size="xs" c="dimmed" mt={4} mih={18} aria-live="polite">
        {describePattern(pattern, types)}
      </Text>
    </div>
  );
}

function Selected() {
  const { values, set, catalogue } = useForm();
  const types = catalogue.map((entry) => entry.name);
  if (values.events.length === 0) return null;
  return (
    <Group gap={6} role="list" aria-label="Chosen event types">
      {values.events.map((pattern) => {
        const count = matchedTypes(pattern, types).length;
        return (
          <Badge
            key={pattern}
            role="listitem"
            variant="default"
            tt="none"
            size="lg"
            maw="100%"
            rightSection={
              <ActionIcon
                size={24}
                variant="transparent"
                color="gray"
                aria-label={`Remove ${pattern}`}
                onClick={() => set({ events: values.events.filter((each) => each !== pattern) })}
              >
                <IconX size={14} />
              </ActionIcon>
            }
          >
            <span className="mono">{pattern}</span>
            {pattern.endsWith("*") && types.length > 0 ? ` (${count} of ${types.length})` : ""}
          </Badge>
        );
      })}
    </Group>
  );
}

/** Which events the webhook receives: from the catalogue, or by name or pattern. */
export function EventPicker() {
  const { values, set, error } = useForm();
  const isAll = values.events.includes("*");
  const message = error("events");
  return (
    <Fieldset legend="Events">
      <Stack gap="sm">
        <Checkbox
          label="All events, also of future types"
          checked={isAll}
          onChange={() => set({ events: isAll ? [] : ["*"] })}
        />
        {!isAll && <CatalogueList />}
        {!isAll && <PatternInput />}
        <Selected />
        {message && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert" data-problem tabIndex={-1}>
            {message}
          </Text>
        )}
      </Stack>
    </Fieldset>
  );
}
