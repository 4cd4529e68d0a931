import { Box, Button } from "@mantine/core";
import { IconArrowUp } from "@tabler/icons-react";

interface Properties {
  count: number;
  max: number; // More than this is not counted.
  show: () => void;
}

/** Offers rows that have arrived. Takes no space, so that nothing moves when it appears. */
export function NewRows({ count, max, show }: Properties) {
  return (
    <Box className="new-rows" aria-live="polite">
      {count > 0 && (
        <Button size="xs" radius="xl" leftSection={<IconArrowUp size={14} />} onClick={show}>
          {count}
          {count >= max ? "+" : ""} new
        </Button>
      )}
    </Box>
  );
}
