import { Button } from "@mantine/core";

import { Empty } from "./Empty.tsx";
import { clearedFilters } from "./filters.ts";

interface Properties {
  what: string; // For example "webhook".
  filters: Partial<Record<string, string>>;
  change: (changes: Record<string, null>) => void;
  keep?: string[]; // Parameters that do not narrow the list.
}

/** Instead of an empty table: the filters leave nothing, and can be cleared. */
export function NothingMatches({ what, filters, change, keep }: Properties) {
  const clear = () => change(clearedFilters(filters, keep));
  return (
    <Empty title={`No ${what} matches`}>
      <Button variant="default" size="xs" onClick={clear}>
        Clear filters
      </Button>
    </Empty>
  );
}
