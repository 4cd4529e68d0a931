import {
  Button,
  Group,
  Modal,
  NumberInput,
  SegmentedControl,
  Select,
  Stack,
  Text,
  TextInput,
} from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { countRetryBatch, type RetryBatch, startRetryBatch } from "~/api/deadLetterOperations.ts";
import type { Operation, OperationCount } from "~/api/types.ts";
import { formatCount } from "~/lib/format.ts";
import { fromInput } from "~/lib/inputTime.ts";
import { useTimeZone } from "~/ui/preferences.ts";
import { Problem } from "~/ui/Problem.tsx";

import { repeatSeconds } from "./repeat.ts";

const rateMax = 10_000;

/** `1,200`, or `100,000 or more`. */
export const countWords = ({ count, more }: OperationCount) =>
  formatCount(count) + (more ? " or more" : "");

interface Choices {
  rate: string | number;
  priority: string | null;
  startAt: string | null; // Null: now.
  repeat: string; // A duration; empty: once.
}

function batchOf(filter: RetryBatch["filter"], choices: Choices): RetryBatch {
  return {
    filter,
    ...(typeof choices.rate === "number" && choices.rate > 0
      ? { rate_limit: { requests_per_second: choices.rate } }
      : {}),
    ...(choices.priority ? { priority: choices.priority as RetryBatch["priority"] } : {}),
    ...(choices.startAt ? { start_at: choices.startAt } : {}),
    ...(choices.repeat.trim() ? { repeat_every_seconds: repeatSeconds(choices.repeat) } : {}),
  };
}

function StartTime({ change }: { change: (at: string | null, isReady: boolean) => void }) {
  const [zone] = useTimeZone();
  const [when, setWhen] = useState("now");
  return (
    <Stack gap={6}>
      <Text size="sm" fw={500} id="start-when">
        Start
      </Text>
      <SegmentedControl
        aria-labelledby="start-when"
        value={when}
        onChange={(next) => {
          setWhen(next);
          change(null, next === "now");
        }}
        data={[
          { value: "now", label: "Now" },
          { value: "later", label: "At a time" },
        ]}
      />
      {when === "later" && (
        <TextInput
          type="datetime-local"
          label={zone === "utc" ? "Start at (UTC)" : "Start at"}
          onChange={(event) => {
            const at = fromInput(event.currentTarget.value, zone);
            change(at, at !== null);
          }}
        />
      )}
    </Stack>
  );
}

interface Properties {
  filter: RetryBatch["filter"];
  scope: string; // In words.
  close: () => void;
  onStarted: (operation: Operation) => void;
}

/** Asks how to retry, tells how many, and starts. */
export function BulkRetry({ filter, scope, close, onStarted }: Properties) {
  const [choices, setChoices] = useState<Choices>({
    rate: "",
    priority: null,
    startAt: null,
    repeat: "",
  });
  const [isReady, setReady] = useState(true);
  const count = useQuery({
    queryKey: ["dead-letters", "retry-count", filter],
    queryFn: () => countRetryBatch({ filter }),
    placeholderData: undefined,
  });
  const start = useMutation({
    mutationFn: () => startRetryBatch(batchOf(filter, choices)),
    onSuccess: onStarted,
  });
  const isRepeatWrong = choices.repeat.trim() !== "" && repeatSeconds(choices.repeat) === null;
  const words = count.data ? countWords(count.data) : "…";
  const isOne = count.data?.count === 1 && !count.data.more;
  return (
    <Modal opened onClose={close} title="Retry dead letters" size="md">
      <Stack>
        <Text size="sm" mih={22} data-count={count.data?.count}>
          {count.data
            ? `${words} ${isOne ? "delivery is" : "deliveries are"} retried: ${scope}. Each gets a new budget of attempts and keeps its history.`
            : "Counting the dead letters …"}
        </Text>
        {count.error && <Problem error={count.error} retry={() => void count.refetch()} />}
        <NumberInput
          label="At most per second"
          description="Spares receivers that have just recovered."
          placeholder="As fast as possible"
          min={1}
          max={rateMax}
          clampBehavior="strict"
          allowDecimal={false}
          value={choices.rate}
          onChange={(rate) => setChoices({ ...choices, rate })}
        />
        <StartTime
          change={(startAt, ready) => {
            setChoices({ ...choices, startAt });
            setReady(ready);
          }}
        />
        <TextInput
          label="Repeat every"
          description="Retries what has become a dead letter since, until it is cancelled."
          placeholder="Only once"
          value={choices.repeat}
          error={isRepeatWrong && "Enter a duration from 1 min to 30 d, for example 1 h."}
          onChange={(event) => setChoices({ ...choices, repeat: event.currentTarget.value })}
        />
        <Select
          label="Priority"
          placeholder="As it is"
          clearable
          value={choices.priority}
          onChange={(priority) => setChoices({ ...choices, priority })}
          data={[
            { value: "high", label: "High" },
            { value: "normal", label: "Normal" },
            { value: "low", label: "Low: after everything else" },
          ]}
        />
        {start.error && <Problem error={start.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button
            loading={start.isPending}
            disabled={!count.data || count.data.count === 0 || !isReady || isRepeatWrong}
            onClick={() => start.mutate()}
          >
            Retry {words}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
