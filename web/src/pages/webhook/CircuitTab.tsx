import { Paper, SimpleGrid, Skeleton, Text, Title } from "@mantine/core";

import { useRights } from "~/api/session.tsx";
import type { CircuitDetail, Webhook } from "~/api/types.ts";
import { formatDuration } from "~/lib/format.ts";
import { FactList } from "~/ui/FactList.tsx";
import { Problem } from "~/ui/Problem.tsx";
import { Status } from "~/ui/Status.tsx";
import { Time } from "~/ui/Time.tsx";

import { CircuitActions } from "./CircuitActions.tsx";
import { CircuitHistory } from "./CircuitHistory.tsx";
import { circuitRules, circuitWords, openedWords } from "./circuitWords.ts";
import { useHealth } from "./queries.ts";

function State({ circuit }: { circuit: CircuitDetail }) {
  return (
    <FactList
      items={[
        ["State", <Status key="s" value={circuit.state} />],
        ["Since", <Time key="c" at={circuit.changed_at} />],
        [
          "Forced",
          circuit.forced ? (
            <span key="f">
              {circuit.forced}
              {circuit.forced_until ? (
                <>
                  {", ends "}
                  <Time at={circuit.forced_until} />
                </>
              ) : (
                ", until it is reset"
              )}
            </span>
          ) : (
            "no"
          ),
        ],
        [
          "Next probe",
          circuit.next_probe_at ? <Time key="n" at={circuit.next_probe_at} /> : undefined,
        ],
        ["Attempts in the window", circuit.calls_in_window],
        [
          "Failed of these",
          circuit.error_percentage === null
            ? circuit.failures_in_window
            : `${circuit.failures_in_window} (${Math.round(circuit.error_percentage)} %)`,
        ],
        [
          "Window began",
          circuit.window_start ? <Time key="w" at={circuit.window_start} /> : undefined,
        ],
        ["Timeouts in a row", circuit.timeouts_in_row],
        ["Probes under way", circuit.state === "half_open" ? circuit.probes_used : undefined],
        ["Opened", openedWords(circuit)],
      ]}
    />
  );
}

export function CircuitTab({ hook }: { hook: Webhook }) {
  const rights = useRights();
  const health = useHealth(hook.id);
  const circuit = health.data?.circuit;
  return (
    <>
      {health.error && <Problem error={health.error} retry={() => void health.refetch()} />}
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="sm" mb="md">
        <Paper withBorder p="md">
          <Title order={2} size="h5" mb="sm">
            Circuit
          </Title>
          {circuit ? <State circuit={circuit} /> : <Skeleton height={220} />}
        </Paper>
        <Paper withBorder p="md">
          <Title order={2} size="h5" mb="sm">
            What it does
          </Title>
          <Text size="sm" mb="sm">
            {circuit ? circuitWords(circuit) : ""}
          </Text>
          {circuitRules(hook.circuit_breaker_config, formatDuration).map((rule) => (
            <Text size="sm" c="dimmed" key={rule}>
              {rule}
            </Text>
          ))}
          {rights.admin && circuit && <CircuitActions id={hook.id} circuit={circuit} />}
        </Paper>
      </SimpleGrid>
      <CircuitHistory id={hook.id} />
    </>
  );
}
