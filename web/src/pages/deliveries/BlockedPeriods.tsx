import { Table, Title } from "@mantine/core";

import type { DeliveryDetail } from "~/api/types.ts";
import { formatDuration } from "~/lib/format.ts";
import { Time } from "~/ui/Time.tsx";

/** When an open circuit kept the delivery waiting although it was due. */
export function BlockedPeriods({ periods }: { periods: DeliveryDetail["blocked_by"] }) {
  if (periods.length === 0) return null;
  return (
    <section aria-labelledby="blocked-title">
      <Title order={2} size="h4" mt="lg" mb="sm" id="blocked-title">
        Held back by the circuit
      </Title>
      <Table.ScrollContainer minWidth={480} type="native" tabIndex={0}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Because of</Table.Th>
              <Table.Th>From</Table.Th>
              <Table.Th>Until</Table.Th>
              <Table.Th>Duration</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {[...periods].reverse().map((period) => (
              <Table.Tr key={period.from}>
                <Table.Td>
                  {period.reason === "forced" ? "opened by hand" : "failures of the receiver"}
                </Table.Td>
                <Table.Td>
                  <Time at={period.from} exact />
                </Table.Td>
                <Table.Td>{period.until ? <Time at={period.until} exact /> : "still"}</Table.Td>
                <Table.Td>{formatDuration(period.duration_ms)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </section>
  );
}
