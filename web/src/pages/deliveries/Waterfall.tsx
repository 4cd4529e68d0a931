import { Box, Table } from "@mantine/core";

import type { Attempt } from "~/api/types.ts";
import { formatMs, stagesOf } from "~/lib/waterfall.ts";

/** Where the time of an attempt went. */
export function Waterfall({ attempt }: { attempt: Attempt }) {
  const stages = stagesOf(attempt);
  const total = Math.max(attempt.duration_ms, 0.001);
  return (
    <Table className="waterfall" withRowBorders={false} verticalSpacing={2} mt="sm">
      <caption hidden>Where the time of attempt {attempt.number} went</caption>
      <Table.Tbody>
        {stages.map((stage) => (
          <Table.Tr key={stage.name}>
            <Table.Th scope="row" fw={400}>
              {stage.name}
            </Table.Th>
            <Table.Td>
              {stage.duration > 0 && (
                <Box
                  className="waterfall-bar"
                  ml={`${Math.min(stage.start / total, 0.995) * 100}%`}
                  w={`${(stage.duration / total) * 100}%`}
                />
              )}
            </Table.Td>
            <Table.Td>{stage.duration > 0 ? formatMs(stage.duration) : "–"}</Table.Td>
          </Table.Tr>
        ))}
        <Table.Tr>
          <Table.Th scope="row">Total</Table.Th>
          <Table.Td />
          <Table.Td fw={600}>{formatMs(attempt.duration_ms)}</Table.Td>
        </Table.Tr>
      </Table.Tbody>
    </Table>
  );
}
