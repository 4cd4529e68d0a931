import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { exampleText, useCatalogue } from "~/api/catalogue.ts";
import { type EventToPublish, type EventWithText, readEvent } from "~/api/events.ts";
import { useRights } from "~/api/session.tsx";
import { useFilters } from "~/ui/filters.ts";
import { PageTitle } from "~/ui/PageTitle.tsx";
import { Problem } from "~/ui/Problem.tsx";

import { PublishForm } from "./PublishForm.tsx";

const blank: EventToPublish = {
  type: "",
  dataText: "{}",
  metadataText: "",
  tenant_id: "",
  resource_id: "",
  idempotency_key: "",
  priority: "normal",
  source: "",
  ordering_key: "",
};

const likeEvent = ({ event, dataText, metadataText }: EventWithText): EventToPublish => ({
  ...blank,
  type: event.type,
  dataText,
  metadataText: metadataText === "{}" ? "" : metadataText,
  tenant_id: event.tenant_id ?? "",
  resource_id: event.resource_id ?? "",
  priority: event.priority,
  source: event.source ?? "",
  ordering_key: event.ordering_key ?? "",
});

/** The form for those who may read the catalogue. */
function PublishFromCatalogue() {
  const [{ type, like }] = useFilters(["type", "like"] as const);
  const catalogue = useCatalogue();
  const model = useQuery({
    queryKey: ["event", like],
    queryFn: () => readEvent(like ?? ""),
    enabled: like !== undefined,
  });
  const problem = model.error ?? catalogue.error;
  if (problem) return <Problem error={problem} />;
  if (!catalogue.data || (like && !model.data)) return <Skeleton height={420} />;
  let start = blank;
  if (model.data) start = likeEvent(model.data);
  else if (type) {
    start = { ...blank, type, dataText: exampleText(catalogue.data, type) ?? blank.dataText };
  }
  return <PublishForm start={start} catalogue={catalogue.data} />;
}

/** `?type=` starts with the example of a type, `?like=` with a copy of an event. */
export default function PublishPage() {
  const { read } = useRights();
  return (
    <>
      <PageTitle title="Publish event" />
      {read ? <PublishFromCatalogue /> : <PublishForm start={blank} catalogue={[]} />}
    </>
  );
}
