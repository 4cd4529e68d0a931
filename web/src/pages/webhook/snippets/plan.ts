// What a receiver has to do for a signature scheme, the same in every language. Pure.
import type { Webhook } from "~/api/types.ts";

export type Signature = Pick<Webhook["signature"], "scheme" | "header_prefix">;

export interface Plan {
  scheme: Signature["scheme"];
  prefix: string; // Of the headers, as configured.
  isPublic: boolean; // Verified with a public key instead of a secret.
  isStandard: boolean; // The headers and the base64 of Standard Webhooks.
  hasTimestamp: boolean;
  timestampHeader: string | null; // null: it is part of the signature, or there is none.
  signatureHeader: string;
  nextHeader: string | null; // Signed with the new secret during a rotation.
}

export function planOf({ scheme, header_prefix }: Signature): Plan {
  const isStandard = scheme === "standard" || scheme === "standard-ed25519";
  const prefixed = (name: string) => header_prefix.toLowerCase() + name;
  return {
    scheme,
    prefix: header_prefix,
    isPublic: scheme === "standard-ed25519",
    isStandard,
    hasTimestamp: scheme !== "sha256-body",
    timestampHeader: isStandard
      ? "webhook-timestamp"
      : scheme === "sha256-timestamp"
        ? prefixed("timestamp")
        : null,
    signatureHeader: isStandard ? "webhook-signature" : prefixed("signature"),
    nextHeader: scheme.startsWith("sha256-") ? prefixed("signature-next") : null,
  };
}

/** The environment variable from which the snippets read the key. */
export const variableOf = (signature: Signature) =>
  planOf(signature).isPublic ? "WEBHOOK_PUBLIC_KEY" : "WEBHOOK_SECRET";

/** The first bytes of an Ed25519 public key in DER, before the key itself. */
export const derPrefix = "302a300506032b6570032100";

/** Lines of code. Whatever is false or null is left out. */
export const lines = (...parts: (string | false | null)[]): string =>
  parts.filter((part): part is string => part !== false && part !== null).join("\n") + "\n";

/** A text in double quotes. Header names have neither quotes nor backslashes. */
export const quote = (text: string) => JSON.stringify(text);

/** A text in single quotes, in which PHP and Ruby replace nothing. */
export const singleQuote = (text: string) => `'${text.replaceAll("'", "\\'")}'`;
