// Ctrl-K: go to a page, or to a thing by its id.
import { ActionIcon, Tooltip } from "@mantine/core";
import { Spotlight, type SpotlightActionData, spotlight } from "@mantine/spotlight";
import { IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import { useLocation } from "wouter";

import { useRights } from "~/api/session.tsx";

import { idTarget } from "./idTarget.ts";
import { pages } from "./pages.ts";

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
  if (rights.admin) {
    places.push({
      id: "new-webhook",
      label: "Create a webhook",
      onClick: () => navigate("/webhooks/new"),
    });
    places.push({
      id: "new-channel",
      label: "Create a notification channel",
      onClick: () => navigate("/notifications/new"),
    });
  }
  const words = query.trim();
  const target = idTarget(words);
  const found: SpotlightActionData[] = words
    ? [
        ...(target
          ? [{ id: "id", label: target.label, onClick: () => navigate(target.path) }]
          : []),
        {
          id: "search-webhooks",
          label: `Webhooks with “${words}” in name or URL`,
          onClick: () => navigate(`/webhooks?q=${encodeURIComponent(words)}`),
        },
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
