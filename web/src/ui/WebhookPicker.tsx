import { Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { api, body } from "~/api/client.ts";
import type { Page, Webhook } from "~/api/types.ts";

interface Properties {
  value: string | undefined;
  change: (id: string | null) => void;
}

const found = 20;
const nameOf = (hook: Webhook) => hook.name ?? hook.url;

/** Picks one of any number of webhooks: the server searches. */
export function WebhookPicker({ value, change }: Properties) {
  const [search, setSearch] = useState("");
  const [asked, setAsked] = useState(false);
  const [words] = useDebouncedValue(search.trim(), 300);
  const chosen = useQuery({
    queryKey: ["webhook", value],
    queryFn: () =>
      body(
        api.GET("/v1/webhooks/{id}", { params: { path: { id: value ?? "" } } }),
      ) as Promise<Webhook>,
    enabled: value !== undefined && /^whk_[0-9a-z]{26}$/.test(value),
    retry: false,
  });
  const chosenName = chosen.data?.id === value && chosen.data ? nameOf(chosen.data) : value;
  const q = words === chosenName ? "" : words;
  const list = useQuery({
    queryKey: ["webhooks", "picker", q],
    queryFn: () =>
      body(
        api.GET("/v1/webhooks", { params: { query: { q: q || undefined, limit: found } } }),
      ) as Promise<Page<Webhook>>,
    enabled: asked,
  });
  const options = new Map(list.data?.data.map((hook) => [hook.id, nameOf(hook)]));
  if (value !== undefined) options.set(value, chosenName ?? value);
  return (
    <Select
      label="Webhook"
      placeholder="Any"
      searchable
      clearable
      w={145}
      value={value ?? null}
      onChange={change}
      onDropdownOpen={() => setAsked(true)}
      searchValue={search}
      onSearchChange={setSearch}
      filter={({ options: all }) => all} // The server has searched.
      nothingFoundMessage={list.isFetching ? "Searching …" : "No webhook found"}
      data={[...options].map(([id, label]) => ({ value: id, label }))}
    />
  );
}
