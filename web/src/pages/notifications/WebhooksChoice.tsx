import { MultiSelect } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQueries, useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { api, body } from "~/api/client.ts";
import type { Page, Webhook } from "~/api/types.ts";

interface Properties {
  tenantId: string; // Empty: webhooks of all tenants.
  value: string[];
  error: string | undefined;
  change: (ids: string[]) => void;
}

const found = 20;
const chosenMax = 100;
/** Names of more are not looked up; their ids are shown. */
const namesMax = 20;
const nameOf = (hook: Webhook) => hook.name ?? hook.url;

/** Chooses among any number of webhooks: the server searches. */
export function WebhooksChoice({ tenantId, value, error, change }: Properties) {
  const [search, setSearch] = useState("");
  const [asked, setAsked] = useState(false);
  const [words] = useDebouncedValue(search.trim(), 300);
  const query = { q: words || undefined, tenant_id: tenantId || undefined, limit: found };
  const list = useQuery({
    queryKey: ["webhooks", "choice", query],
    queryFn: () => body(api.GET("/v1/webhooks", { params: { query } })) as Promise<Page<Webhook>>,
    enabled: asked,
  });
  const chosen = useQueries({
    queries: value.slice(0, namesMax).map((id) => ({
      queryKey: ["webhook", id],
      queryFn: () =>
        body(api.GET("/v1/webhooks/{id}", { params: { path: { id } } })) as Promise<Webhook>,
      retry: false, // It may have been deleted.
      staleTime: 60_000,
    })),
  });
  const options = new Map(value.map((id) => [id, id]));
  for (const { data } of chosen)
    if (data && options.has(data.id)) options.set(data.id, nameOf(data));
  for (const hook of list.data?.data ?? []) options.set(hook.id, nameOf(hook));
  return (
    <MultiSelect
      label="Webhooks"
      description="Only alerts about these. None chosen: all, and alerts about no webhook."
      placeholder={value.length > 0 ? undefined : "All"}
      searchable
      clearable
      maxValues={chosenMax}
      value={value}
      error={error}
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
