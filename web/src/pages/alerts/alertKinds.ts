// What each kind of alert means and what to do about it. Pure.
import type { Alert } from "~/api/types.ts";

export type AlertKind = Alert["kind"];

interface KindWords {
  title: string;
  next: string; // What to do next.
  link?: { label: string; path: (alert: Alert) => string };
}

const webhook = {
  label: "Open the webhook",
  path: (alert: Alert) => (alert.webhook_id ? `/webhooks/${alert.webhook_id}` : "/webhooks"),
};
const deadLetters = {
  label: "See the dead letters",
  path: (alert: Alert) => {
    if (alert.webhook_id) return `/dead-letters?webhook_id=${alert.webhook_id}`;
    const tenant = alert.tenant_id ? `?tenant_id=${encodeURIComponent(alert.tenant_id)}` : "";
    return `/dead-letters${tenant}`;
  },
};
const overview = { label: "See the worst webhooks", path: () => "/" };

export const alertKinds: Record<AlertKind, KindWords> = {
  circuit_opened: {
    title: "Circuit opened",
    next: "Look at the last failures and repair the receiver. Probes close the circuit again.",
    link: webhook,
  },
  circuit_recovered: { title: "Circuit recovered", next: "Nothing to do.", link: webhook },
  circuit_stays_open: {
    title: "Circuit stays open",
    next: "Ask the owner of the receiver. Then reset the circuit, or pause the webhook.",
    link: webhook,
  },
  webhook_disabled: {
    title: "Webhook disabled",
    next: "Check whether the URL is still wanted. Correct it and enable the webhook.",
    link: webhook,
  },
  webhook_failing: {
    title: "Webhook fails often",
    next: "Look at the error distribution and tell the owner of the receiver.",
    link: webhook,
  },
  dead_letters: {
    title: "Many dead letters",
    next: "Find the reason, repair it, then retry them together.",
    link: deadLetters,
  },
  dead_letters_waiting: {
    title: "Dead letters pile up",
    next: "Retry those that can still succeed and discard the rest.",
    link: deadLetters,
  },
  permanent_failure: {
    title: "Delivery failed for good",
    next: "See what the receiver answered. Retry the dead letters after the repair.",
    link: deadLetters,
  },
  total_dead_letters: {
    title: "Many dead letters in total",
    next: "Group the dead letters by webhook and reason to find the common cause.",
    link: deadLetters,
  },
  dead_letter_share: {
    title: "Too many deliveries fail for good",
    next: "Group the dead letters by webhook and reason to find the common cause.",
    link: deadLetters,
  },
  dns_failing: {
    title: "Host cannot be resolved",
    next: "Check the host name of the URL and the name servers of this machine.",
    link: webhook,
  },
  secret_old: {
    title: "Secret is old",
    next: "Rotate the secret. Both secrets are valid during the grace period.",
    link: webhook,
  },
  success_low: {
    title: "Few attempts succeed",
    next: "Start with the worst webhooks. If all fail, check the network of this server.",
    link: overview,
  },
  total_failures: {
    title: "Many attempts fail",
    next: "Start with the worst webhooks. If all fail, check the network of this server.",
    link: overview,
  },
  p99_high: {
    title: "Receivers are slow",
    next: "Find the slow webhooks and lower their timeout or their concurrency.",
    link: overview,
  },
  queue_deep: {
    title: "Many deliveries wait",
    next: "See which webhooks hold them. Slow receivers need limits of their own.",
    link: { label: "See what waits", path: () => "/deliveries?status=pending" },
  },
  pool_busy: {
    title: "Request slots are nearly used up",
    next: "Raise engine.in_flight_max, or lower the concurrency of slow webhooks.",
    link: { label: "See the settings", path: () => "/settings?q=in_flight" },
  },
  server_resources_short: {
    title: "Server lacks resources",
    next: "Raise the limit of open files, or the range of local ports or the memory.",
  },
  store_failing: {
    title: "Store fails",
    next: "Check free space and health of the disk. Nothing is accepted until it writes again.",
  },
  store_corrupt: {
    title: "Store is damaged",
    next: "Stop the server, keep a copy of the data directory, and restore a backup.",
  },
  store_data_lost: {
    title: "Store has lost data",
    next: "Ask publishers to send the events of the lost period again.",
  },
  source_failing: {
    title: "Source of events fails",
    next: "Check that the server it reads from runs and accepts its address and password.",
  },
  messages_rejected: {
    title: "Messages are rejected",
    next: "Correct the messages that the source keeps aside, and send them again.",
  },
  notifications_failing: {
    title: "Notifications cannot be sent",
    next: "Look at the last error of the notification channel, fix it and send a test.",
    link: { label: "See the channels", path: () => "/notifications" },
  },
};

/** Kinds that only the operator can see: they name no tenant and no webhook. */
const serverKinds = new Set<AlertKind>([
  "success_low",
  "total_failures",
  "p99_high",
  "total_dead_letters",
  "dead_letter_share",
  "queue_deep",
  "pool_busy",
  "server_resources_short",
  "store_failing",
  "store_corrupt",
  "store_data_lost",
  "source_failing",
  "messages_rejected",
]);

export function kindChoices(operator: boolean): { value: AlertKind; label: string }[] {
  return (Object.keys(alertKinds) as AlertKind[])
    .filter((kind) => operator || !serverKinds.has(kind))
    .map((kind) => ({ value: kind, label: alertKinds[kind].title }))
    .sort((a, b) => a.label.localeCompare(b.label));
}

/** A kind of a newer server has no words here; its own words are in `detail`. */
export function wordsOf(kind: string): KindWords {
  const known = (alertKinds as Partial<Record<string, KindWords>>)[kind];
  return known ?? { title: kind.replaceAll("_", " "), next: "See the details." };
}
