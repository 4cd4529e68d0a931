// Ctrl-K: go to a page, to a thing by its id or to a webhook by its name, or create something.
import { ActionIcon, Tooltip } from "@mantine/core";
import { Spotlight, type SpotlightActionData, spotlight } from "@mantine/spotlight";
import { useDebouncedValue } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";

import { api, body } from "~/api/client.ts";
import { useRights } from "~/api/session.tsx";
import type { Webhook } from "~/api/types.ts";

import { idTarget } from "./idTarget.ts";
import { pages } from "./pages.ts";
import { paletteActions } from "./paletteActions.ts";

const webhooksShown = 5;
const typingMs = 200;

export function PaletteButton() {
  return (
    <Tooltip label="Search (Ctrl K)">
      <ActionIcon
        variant="default"
        size="lg"
        aria-label="Search"
        aria-keyshortcuts="Control+K"
        onClick={() => spotlight.open()}
      >
        <IconSearch size={18} />
      </ActionIcon>
    </Tooltip>
  );
}

/** The webhooks that match what was typed. */
function useFoundWebhooks(typed: string): Webhook[] {
  const [words] = useDebouncedValue(typed, typingMs);
  const { read } = useRights();
  const found = useQuery({
    queryKey: ["webhooks", "palette", words],
    queryFn: () =>
      body(api.GET("/v1/webhooks", { params: { query: { q: words, limit: webhooksShown } } })),
    enabled: read && words !== "",
    retry: false,
  });
  return typed === "" ? [] : (found.data?.data ?? []);
}

export function Palette() {
  const rights = useRights();
  const [, navigate] = useLocation();
  const [query, setQuery] = useState("");

  const places: SpotlightActionData[] = pages
    .filter((page) => page.menu && page.shown(rights))
    .map((page) => ({
      id: page.path,
      label: page.menu?.label ?? page.path,
      onClick: () => navigate(page.path),
    }));
  for (const { label, path } of paletteActions(rights)) {
    places.push({ id: path, label, onClick: () => navigate(path) });
  }
  const words = query.trim();
  const webhooks = useFoundWebhooks(words);
  const target = idTarget(words);
  const allWebhooks = {
    id: "search-webhooks",
    label: `Webhooks with “${words}” in name or URL`,
    onClick: () => navigate(`/webhooks?q=${encodeURIComponent(words)}`),
  };
  const found: SpotlightActionData[] = words
    ? [
        ...(target
          ? [{ id: "id", label: target.label, onClick: () => navigate(target.path) }]
          : []),
        ...webhooks
          .filter(({ id }) => id !== words)
          .map((hook) => ({
            id: hook.id,
            label: hook.name ?? hook.id,
            description: hook.url,
            onClick: () => navigate(`/webhooks/${hook.id}`),
          })),
        ...(rights.read ? [allWebhooks] : []),
      ]
    : [];
  return (
    <Spotlight
      query={query}
      onQueryChange={setQuery}
      actions={[...places, ...found]}
      filter={(text, actions) => {
        const wanted = text.trim().toLowerCase();
        return (actions as SpotlightActionData[]).filter(
          (action) =>
            found.some((each) => each.id === action.id) ||
            (action.label ?? "").toLowerCase().includes(wanted),
        );
      }}
      shortcut={["mod + K", "/"]}
      nothingFound="Nothing found."
      searchProps={{ placeholder: "A page, an id, a webhook", "aria-label": "Search" }}
    />
  );
}
