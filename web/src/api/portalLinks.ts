import { api, body } from "./client.ts";
import type { Branding } from "./session.tsx";

export interface PortalLinkInput {
  tenant_id: string;
  role: "admin" | "viewer";
  expires_in_seconds: number;
  session_seconds: number;
  branding?: Partial<Branding>;
}

export interface PortalLink {
  url: string;
  expires_at: string;
}

/** A link with which one user of the tenant can open the portal, once. */
export function createPortalLink(input: PortalLinkInput): Promise<PortalLink> {
  return body(api.POST("/v1/portal-links", { body: input })) as Promise<PortalLink>;
}
