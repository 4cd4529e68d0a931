// Every page: where it is, who sees it, and its code, which is loaded when it is first shown.
import {
  IconAlertTriangle,
  IconBell,
  IconBellRinging,
  IconBuilding,
  IconCategory,
  IconGauge,
  IconHistory,
  IconKey,
  IconListCheck,
  IconSend,
  IconSettings,
  IconTruckDelivery,
  IconWebhook,
} from "@tabler/icons-react";
import { type ComponentType, lazy } from "react";

import type { Rights } from "~/api/session.tsx";

export interface PageEntry {
  path: string;
  component: ComponentType;
  menu?: { label: string; icon: ComponentType<{ size?: number }> };
  shown: (rights: Rights) => boolean;
}

const everybody = (rights: Rights) => rights.read;
const operatingAdmins = (rights: Rights) => rights.operator && rights.admin;
const admins = (rights: Rights) => rights.admin;

export const pages: PageEntry[] = [
  {
    path: "/",
    component: lazy(() => import("~/pages/overview/OverviewPage.tsx")),
    menu: { label: "Overview", icon: IconGauge },
    shown: everybody,
  },
  {
    path: "/webhooks",
    component: lazy(() => import("~/pages/webhooks/WebhooksPage.tsx")),
    menu: { label: "Webhooks", icon: IconWebhook },
    shown: everybody,
  },
  {
    path: "/webhooks/new",
    component: lazy(() => import("~/pages/webhook-form/NewWebhookPage.tsx")),
    shown: admins,
  },
  {
    path: "/webhooks/:id/edit",
    component: lazy(() => import("~/pages/webhook-form/EditWebhookPage.tsx")),
    shown: admins,
  },
  {
    path: "/webhooks/:id",
    component: lazy(() => import("~/pages/webhook/WebhookPage.tsx")),
    shown: everybody,
  },
  {
    path: "/deliveries",
    component: lazy(() => import("~/pages/deliveries/DeliveriesPage.tsx")),
    menu: { label: "Deliveries", icon: IconTruckDelivery },
    shown: everybody,
  },
  {
    path: "/deliveries/:id",
    component: lazy(() => import("~/pages/deliveries/DeliveryPage.tsx")),
    shown: everybody,
  },
  {
    path: "/dead-letters",
    component: lazy(() => import("~/pages/dead-letters/DeadLettersPage.tsx")),
    menu: { label: "Dead letters", icon: IconAlertTriangle },
    shown: everybody,
  },
  {
    path: "/events",
    component: lazy(() => import("~/pages/events/EventsPage.tsx")),
    menu: { label: "Events", icon: IconSend },
    shown: everybody,
  },
  {
    path: "/events/new",
    component: lazy(() => import("~/pages/events/PublishPage.tsx")),
    shown: (rights) => rights.publish,
  },
  {
    path: "/events/:id",
    component: lazy(() => import("~/pages/events/EventPage.tsx")),
    shown: everybody,
  },
  {
    path: "/event-types",
    component: lazy(() => import("~/pages/event-types/EventTypesPage.tsx")),
    menu: { label: "Event types", icon: IconCategory },
    shown: everybody,
  },
  {
    path: "/event-types/new",
    component: lazy(() => import("~/pages/event-types/NewEventTypePage.tsx")),
    shown: operatingAdmins,
  },
  {
    path: "/event-types/show/:name",
    component: lazy(() => import("~/pages/event-types/EventTypePage.tsx")),
    shown: everybody,
  },
  {
    path: "/operations",
    component: lazy(() => import("~/pages/operations/OperationsPage.tsx")),
    menu: { label: "Operations", icon: IconListCheck },
    shown: everybody,
  },
  {
    path: "/alerts",
    component: lazy(() => import("~/pages/alerts/AlertsPage.tsx")),
    menu: { label: "Alerts", icon: IconBell },
    shown: everybody,
  },
  {
    path: "/notifications",
    component: lazy(() => import("~/pages/notifications/NotificationsPage.tsx")),
    menu: { label: "Notifications", icon: IconBellRinging },
    shown: everybody,
  },
  {
    path: "/notifications/new",
    component: lazy(() => import("~/pages/notifications/NewChannelPage.tsx")),
    shown: admins,
  },
  {
    path: "/notifications/:id/edit",
    component: lazy(() => import("~/pages/notifications/EditChannelPage.tsx")),
    shown: admins,
  },
  {
    path: "/notifications/:id",
    component: lazy(() => import("~/pages/notifications/ChannelPage.tsx")),
    shown: everybody,
  },
  {
    path: "/audit-log",
    component: lazy(() => import("~/pages/audit/AuditLogPage.tsx")),
    menu: { label: "Audit log", icon: IconHistory },
    shown: operatingAdmins,
  },
  {
    path: "/api-keys",
    component: lazy(() => import("~/pages/api-keys/ApiKeysPage.tsx")),
    menu: { label: "API keys", icon: IconKey },
    shown: admins,
  },
  {
    path: "/tenants",
    component: lazy(() => import("~/pages/tenants/TenantsPage.tsx")),
    menu: { label: "Tenants", icon: IconBuilding },
    shown: operatingAdmins,
  },
  {
    path: "/tenants/:id",
    component: lazy(() => import("~/pages/tenants/TenantPage.tsx")),
    shown: operatingAdmins,
  },
  {
    path: "/settings",
    component: lazy(() => import("~/pages/settings/SettingsPage.tsx")),
    menu: { label: "Settings", icon: IconSettings },
    shown: operatingAdmins,
  },
];
