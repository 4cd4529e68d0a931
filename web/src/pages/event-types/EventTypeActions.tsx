import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useLocation } from "wouter";

import { api, body } from "~/api/client.ts";
import { useRights } from "~/api/session.tsx";
import type { EventTypeEntry } from "~/api/types.ts";
import { useConfirm } from "~/ui/confirm.tsx";
import { notifyDone, notifyProblem } from "~/ui/Problem.tsx";

const archiving = {
  title: "Archive this event type?",
  action: "Archive",
  consequences:
    "From now on the server refuses events of this type, so publishers get errors. Events that " +
    "were published before are kept and still delivered. You can restore the type at any time.",
};

const deleting = (entry: EventTypeEntry) => ({
  title: `Delete ${entry.name}?`,
  action: "Delete event type",
  consequences:
    "Its description, schema and example are lost. Events of this type are then accepted without " +
    "validation. Published events and webhooks stay as they are. To refuse such events, archive " +
    "the type instead.",
});

export function EventTypeActions({
  entry,
  mayChange,
}: {
  entry: EventTypeEntry;
  mayChange: boolean;
}) {
  const { publish } = useRights();
  const confirm = useConfirm();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const params = { path: { name: entry.name } };
  const refresh = () => {
    void queries.invalidateQueries({ queryKey: ["event-types"] });
    void queries.invalidateQueries({ queryKey: ["catalogue"] });
    void queries.invalidateQueries({ queryKey: ["event-type", entry.name] });
  };
  const archive = useMutation({
    mutationFn: (archived: boolean) =>
      body(api.PATCH("/v1/event-types/{name}", { params, body: { archived } })),
    onSuccess: (_, archived) => {
      notifyDone(archived ? `${entry.name} is archived.` : `${entry.name} is active again.`);
      refresh();
    },
    onError: notifyProblem,
  });
  const remove = useMutation({
    mutationFn: () => body(api.DELETE("/v1/event-types/{name}", { params })),
    onSuccess: () => {
      notifyDone(`${entry.name} is deleted.`);
      navigate("/event-types");
      queries.removeQueries({ queryKey: ["event-type", entry.name] });
      void queries.invalidateQueries({ queryKey: ["event-types"] });
      void queries.invalidateQueries({ queryKey: ["catalogue"] });
    },
    onError: notifyProblem,
  });
  const askArchive = async () => {
    if (entry.archived || (await confirm(archiving))) archive.mutate(!entry.archived);
  };
  const askDelete = async () => {
    if (await confirm(deleting(entry))) remove.mutate();
  };
  return (
    <>
      {publish && !entry.archived && !entry.system && (
        <Button component={Link} href={`/events/new?type=${encodeURIComponent(entry.name)}`}>
          Publish an event
        </Button>
      )}
      {mayChange && (
        <>
          <Button variant="default" loading={archive.isPending} onClick={() => void askArchive()}>
            {entry.archived ? "Restore" : "Archive"}
          </Button>
          <Button
            variant="default"
            c="var(--mantine-color-error)"
            loading={remove.isPending}
            onClick={() => void askDelete()}
          >
            Delete
          </Button>
        </>
      )}
    </>
  );
}
