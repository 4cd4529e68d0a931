import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";

import { api, body } from "~/api/client.ts";
import { PageTitle } from "~/ui/PageTitle.tsx";
import { notifyDone } from "~/ui/Problem.tsx";

import { changeBody, type EventTypeDraft, eventTypePath } from "./eventType.ts";
import { EventTypeForm } from "./EventTypeForm.tsx";

export default function NewEventTypePage() {
  const [, navigate] = useLocation();
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: (draft: EventTypeDraft) =>
      body(
        api.POST("/v1/event-types", {
          body: { name: draft.name },
          bodySerializer: () => changeBody(draft, true),
        }),
      ),
    onSuccess: (_, draft) => {
      notifyDone(`${draft.name.trim()} is in the catalogue.`);
      void queries.invalidateQueries({ queryKey: ["event-types"] });
      void queries.invalidateQueries({ queryKey: ["catalogue"] });
      navigate(eventTypePath(draft.name.trim()));
    },
  });
  return (
    <>
      <PageTitle title="Create event type" />
      <EventTypeForm
        known={null}
        error={create.error}
        saving={create.isPending}
        save={(draft) => create.mutate(draft)}
      />
    </>
  );
}
