import { Skeleton, Tabs } from "@mantine/core";
import { type ComponentType, lazy, Suspense, useEffect, useRef } from "react";
import { useParams } from "wouter";

import { useLiveQueries } from "~/api/live.ts";
import { isNotFound } from "~/api/problem.ts";
import { useRights } from "~/api/session.tsx";
import type { Webhook } from "~/api/types.ts";
import { useFilters } from "~/ui/filters.ts";
import { LoadProblem } from "~/ui/LoadProblem.tsx";

import { OverviewTab } from "./OverviewTab.tsx";
import { useWebhook, webhookKey } from "./queries.ts";
import { currentTab, shownTabs } from "./tabs.ts";
import { WebhookHeader } from "./WebhookHeader.tsx";

import "./webhook.css";

type Panel = ComponentType<{ hook: Webhook }>;
const load = (panel: () => Promise<Panel>) => lazy(async () => ({ default: await panel() }));

// The first one is shown at once, the others are loaded when they are wanted.
const panels: Record<string, Panel> = {
  overview: OverviewTab,
  deliveries: load(async () => (await import("./DeliveriesTab.tsx")).DeliveriesTab),
  circuit: load(async () => (await import("./CircuitTab.tsx")).CircuitTab),
  test: load(async () => (await import("./TestTab.tsx")).TestTab),
  secret: load(async () => (await import("./SecretTab.tsx")).SecretTab),
  verify: load(async () => (await import("./VerifyTab.tsx")).VerifyTab),
  replay: load(async () => (await import("./ReplayTab.tsx")).ReplayTab),
  configuration: load(async () => (await import("./ConfigurationTab.tsx")).ConfigurationTab),
};

function WebhookTabs({ hook }: { hook: Webhook }) {
  const rights = useRights();
  const [filters, change] = useFilters(["tab"]);
  const tab = currentTab(filters.tab, rights);
  const Panel = panels[tab] ?? OverviewTab;
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // On a phone, the list is wider than the page.
    const active = list.current?.querySelector("[aria-selected='true']");
    active?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [tab]);
  return (
    <Tabs
      value={tab}
      onChange={(next) => change({ tab: next === "overview" ? null : next })}
      keepMounted={false}
    >
      <Tabs.List className="tab-list" mb="md" ref={list}>
        {shownTabs(rights).map(({ value, label }) => (
          <Tabs.Tab key={value} value={value}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {shownTabs(rights).map(({ value }) => (
        <Tabs.Panel key={value} value={value}>
          {value === tab && (
            <Suspense fallback={<Skeleton height={240} />}>
              <Panel hook={hook} />
            </Suspense>
          )}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

export default function WebhookPage() {
  const { id = "" } = useParams();
  const hook = useWebhook(id);
  const live = useLiveQueries({ webhook_id: id }, [webhookKey(id)]);
  if (hook.error && (!hook.data || isNotFound(hook.error))) {
    const deliveries = `/deliveries?webhook_id=${encodeURIComponent(id)}`;
    return (
      <LoadProblem
        error={hook.error}
        retry={() => void hook.refetch()}
        what="webhook"
        why="It may have been deleted. What it sent is kept."
        list={{ href: deliveries, label: "Show its deliveries" }}
      />
    );
  }
  if (!hook.data) return <Skeleton height={240} aria-label="Loading the webhook" />;
  return (
    <>
      <WebhookHeader hook={hook.data} live={live} />
      <WebhookTabs key={id} hook={hook.data} />
    </>
  );
}
