import { Text } from "@mantine/core";

import type { Delivery } from "~/api/types.ts";
import { formatWord } from "~/lib/format.ts";
import { deliveryColumns } from "~/pages/deliveries/deliveryColumns.tsx";
import type { Column } from "~/ui/DataTable.tsx";
import { Time } from "~/ui/Time.tsx";

const taken = ["event_type", "webhook", "result", "attempts"];

/** The columns of deliveries that matter here, and what only dead letters have. */
export const deadLetterColumns: Column<Delivery>[] = [
  ...taken.flatMap((id) => deliveryColumns.filter((column) => column.id === id)),
  {
    id: "reason",
    header: "Reason",
    cell: (delivery) => (
      <Text size="sm" className="truncate" title={delivery.last_error ?? undefined}>
        {delivery.dead_letter ? formatWord(delivery.dead_letter.reason) : "–"}
      </Text>
    ),
    value: (delivery) => delivery.dead_letter?.reason ?? null,
  },
  {
    id: "classification",
    header: "Classification",
    width: "8rem",
    hidden: true,
    cell: (delivery) => delivery.dead_letter?.classification ?? "–",
    value: (delivery) => delivery.dead_letter?.classification ?? null,
  },
  {
    id: "since",
    header: "Dead since",
    width: "7rem",
    cell: (delivery) => <Time at={delivery.completed_at} />,
    value: (delivery) => delivery.completed_at,
  },
  ...["tenant", "created", "id"].flatMap((id) =>
    deliveryColumns.filter((column) => column.id === id),
  ),
];
