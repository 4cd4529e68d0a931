import { Anchor, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "wouter";

import { api, body } from "~/api/client.ts";
import { type EventTypeWithText, readEventType } from "~/api/eventTypes.ts";
import { useRights } from "~/api/session.tsx";
import { BackTo } from "~/ui/BackTo.tsx";
import { Code } from "~/ui/Code.tsx";
import { Facts } from "~/ui/Facts.tsx";
import { LoadProblem } from "~/ui/LoadProblem.tsx";
import { Notice } from "~/ui/Notice.tsx";
import { PageTitle } from "~/ui/PageTitle.tsx";
import { notifyDone } from "~/ui/Problem.tsx";
import { Status } from "~/ui/Status.tsx";
import { Time } from "~/ui/Time.tsx";

import { changeBody, type EventTypeDraft, validationWords } from "./eventType.ts";
import { EventTypeActions } from "./EventTypeActions.tsx";
import { EventTypeForm } from "./EventTypeForm.tsx";

function Editor({ known }: { known: EventTypeWithText }) {
  const { entry } = known;
  const queries = useQueryClient();
  const save = useMutation({
    mutationFn: (draft: EventTypeDraft) =>
      body(
        api.PATCH("/v1/event-types/{name}", {
          params: { path: { name: entry.name } },
          body: {},
          bodySerializer: () => changeBody(draft, false),
        }),
      ),
    onSuccess: () => {
      notifyDone(`${entry.name} is saved.`);
      void queries.invalidateQueries({ queryKey: ["event-types"] });
      void queries.invalidateQueries({ queryKey: ["catalogue"] });
      void queries.invalidateQueries({ queryKey: ["event-type", entry.name] });
    },
  });
  return (
    <EventTypeForm
      known={known}
      error={save.error}
      saving={save.isPending}
      save={(draft) => save.mutate(draft)}
    />
  );
}

/** For those who may not change the catalogue. */
function Reading({ known }: { known: EventTypeWithText }) {
  const { entry, schemaText, exampleText } = known;
  return (
    <Stack>
      <Text>{entry.description ?? "There is no description."}</Text>
      {schemaText !== null && (
        <section>
          <Title order={2} size="h4">
            Schema
          </Title>
          <Code text={schemaText} label="schema" />
        </section>
      )}
      {exampleText !== null && (
        <section>
          <Title order={2} size="h4">
            Example
          </Title>
          <Code text={exampleText} label="example" />
        </section>
      )}
    </Stack>
  );
}

export default function EventTypePage() {
  const { name } = useParams<{ name: string }>();
  const rights = useRights();
  const read = useQuery({
    queryKey: ["event-type", name],
    queryFn: () => readEventType(name),
    placeholderData: undefined,
  });
  if (read.error) {
    return (
      <LoadProblem
        error={read.error}
        retry={() => void read.refetch()}
        what="event type"
        why="It may have been deleted. Events of types outside of the catalogue are accepted too."
        list={{ href: "/event-types", label: "Show the catalogue" }}
      />
    );
  }
  if (!read.data) return <Skeleton height={420} aria-label="Loading the event type" />;
  const { entry } = read.data;
  const mayChange = rights.operator && rights.admin && !entry.system;
  return (
    <>
      <BackTo href="/event-types" label="Event types" />
      <PageTitle title={entry.name}>
        <EventTypeActions entry={entry} mayChange={mayChange} />
      </PageTitle>
      <Stack>
        {entry.system && (
          <Notice tone="plain" title="Only the server publishes this type">
            It goes to{" "}
            <Anchor component={Link} href="/notifications" c="inherit" underline="always">
              notification channels
            </Anchor>{" "}
            and cannot be changed.
          </Notice>
        )}
        {entry.archived && (
          <Notice tone="wait" title="This event type is archived">
            The server refuses events of this type. Events that were published before are kept.
          </Notice>
        )}
        <Facts
          facts={[
            ["State", <Status key="state" value={entry.archived ? "archived" : "active"} />],
            ["Validation", validationWords(entry)],
            ["Created", <Time key="created" at={entry.created_at} />],
            ["Changed", <Time key="changed" at={entry.updated_at} />],
          ]}
        />
        <Anchor component={Link} href={`/events?event_type=${encodeURIComponent(entry.name)}`}>
          Events of this type
        </Anchor>
        {mayChange ? <Editor known={read.data} /> : <Reading known={read.data} />}
      </Stack>
    </>
  );
}
