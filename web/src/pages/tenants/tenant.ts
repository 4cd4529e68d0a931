// Words and values of tenants. Pure.
import type { Tenant, TenantLimits } from "~/api/types.ts";
import { formatCount, formatDuration } from "~/lib/format.ts";

export const tenantPath = (id: string) => `/tenants/${encodeURIComponent(id)}`;

export const tenantState = (tenant: Pick<Tenant, "suspended_at">) =>
  tenant.suspended_at ? "suspended" : "active";

/** The limits that differ from the server's, in words. */
export function limitsWords(limits: TenantLimits): string {
  const parts: string[] = [];
  if (limits.webhooks_max !== null) parts.push(`${formatCount(limits.webhooks_max)} webhooks`);
  if (limits.events_per_minute !== null) {
    parts.push(`${formatCount(limits.events_per_minute)} events per minute`);
  }
  if (limits.timeout_ms_max !== null) {
    parts.push(`timeout ${formatDuration(limits.timeout_ms_max)}`);
  }
  if (limits.max_in_flight_max !== null) {
    parts.push(`${formatCount(limits.max_in_flight_max)} requests at once`);
  }
  return parts.length === 0 ? "none" : parts.join(", ");
}

export const brandColor = /^#[0-9a-fA-F]{6}$/;
