import { api, body } from "./client.ts";
import type { operations } from "#contract";

type Create = operations["createPortalLink"];
export type PortalLinkInput = Create["requestBody"]["content"]["application/json"];
export type PortalLink = Create["responses"][201]["content"]["application/json"];

/** A link with which one user of the tenant can open the portal, once. */
export const createPortalLink = (input: PortalLinkInput): Promise<PortalLink> =>
  body(api.POST("/v1/portal-links", { body: input }));
