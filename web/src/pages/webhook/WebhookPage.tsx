import { Anchor, Skeleton, Tabs } from "@mantine/core";
import { type ComponentType, lazy, Suspense } from "react";
import { Link, useParams } from "wouter";

import { useLiveQueries } from "~/api/live.ts";
import { ApiProblem } from "~/api/problem.ts";
import { useRights } from "~/api/session.tsx";
import type { Webhook } from "~/api/types.ts";
import { Empty } from "~/ui/Empty.tsx";
import { useFilters } from "~/ui/filters.ts";
import { Problem } from "~/ui/Problem.tsx";

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
  return (
    <Tabs
      value={tab}
      onChange={(next) => change({ tab: next === "overview" ? null : next })}
      keepMounted={false}
    >
      <Tabs.List className="tab-list" mb="md">
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
  if (hook.error instanceof ApiProblem && hook.error.status === 404) {
    return (
      <Empty title="There is no such webhook">
        It may have been deleted. What it sent is still in the{" "}
        <Anchor component={Link} href={`/deliveries?webhook_id=${encodeURIComponent(id)}`}>
          deliveries
        </Anchor>
        .
      </Empty>
    );
  }
  if (!hook.data) {
    if (hook.error) return <Problem error={hook.error} retry={() => void hook.refetch()} />;
    return <Skeleton height={240} aria-label="Loading the webhook" />;
  }
  return (
    <>
      <WebhookHeader hook={hook.data} live={live} />
      <WebhookTabs key={id} hook={hook.data} />
    </>
  );
}
