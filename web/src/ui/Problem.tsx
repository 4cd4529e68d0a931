import { Alert, Button, Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";

import { ApiProblem } from "~/api/problem.ts";

function words(error: unknown): { title: string; detail: string; requestId: string | null } {
  if (error instanceof ApiProblem) {
    const { title, detail, requestId, code } = error;
    // The title of the server is about a request, but people see a form.
    const words = code === "validation_failed" ? "Some values are not valid" : title;
    return { title: words, detail, requestId };
  }
  const detail = error instanceof Error ? error.message : String(error);
  return { title: "The page has failed", detail, requestId: null };
}

/** An error in words, with the request id that the server's log has too. */
export function Problem({ error, retry }: { error: unknown; retry?: () => void }) {
  const { title, detail, requestId } = words(error);
  return (
    <Alert
      color="red"
      variant="light"
      title={title}
      role="alert"
      styles={{ label: { color: "var(--status-bad)" }, body: { overflowWrap: "anywhere" } }}
    >
      {detail && <Text size="sm">{detail}</Text>}
      {requestId && (
        <Text size="xs" mt={4}>
          Request id: <span className="mono">{requestId}</span>
        </Text>
      )}
      {retry && (
        <Group mt="sm">
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        </Group>
      )}
    </Alert>
  );
}

/** For actions that do not have a place of their own to show an error. */
export function notifyProblem(error: unknown): void {
  const { title, detail, requestId } = words(error);
  notifications.show({
    color: "red",
    title,
    message: requestId ? `${detail} (request ${requestId})` : detail,
    autoClose: 15_000,
  });
}

export function notifyDone(message: string): void {
  notifications.show({ color: "green", message });
}
