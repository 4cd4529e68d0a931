import { Anchor, Chip, Code, Group, Stack, Text } from "@mantine/core";
import { Link } from "wouter";

import { useRights } from "~/api/session.tsx";
import type { Webhook } from "~/api/types.ts";
import { Copy } from "~/ui/Copy.tsx";
import { useFilters } from "~/ui/filters.ts";

import { languages, parseLanguage, snippet, variableOf } from "./snippets/snippets.ts";

/** What the receiver needs, in the words of the webhook's own scheme. */
function Explanation({ hook }: { hook: Webhook }) {
  const rights = useRights();
  const variable = variableOf(hook.signature);
  const isPublic = hook.signature.scheme === "standard-ed25519";
  return (
    <Text size="sm">
      The receiver verifies each request before it uses it: over the raw body as received, before
      any parsing. This webhook signs with <span className="mono">{hook.signature.scheme}</span>.
      Set <span className="mono">{variable}</span> to{" "}
      {isPublic ? (
        <>
          the public key <span className="mono">{hook.public_key}</span>.
        </>
      ) : rights.admin ? (
        <>
          the{" "}
          <Anchor component={Link} href={`/webhooks/${hook.id}?tab=secret`} size="sm">
            secret
          </Anchor>{" "}
          as it is shown.
        </>
      ) : (
        "the secret as it is shown to administrators."
      )}
    </Text>
  );
}

export function VerifyTab({ hook }: { hook: Webhook }) {
  const [filters, change] = useFilters(["language"]);
  const language = parseLanguage(filters.language);
  const { code, file, needs } = snippet(language, hook.signature);
  return (
    <Stack gap="sm">
      <Explanation hook={hook} />
      <Chip.Group value={language} onChange={(next) => change({ language: next as string }, true)}>
        <Group gap="xs" role="radiogroup" aria-label="Language">
          {languages.map(({ value, label }) => (
            <Chip key={value} value={value} size="sm">
              {label}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      <Group justify="space-between" gap="xs">
        <Text size="sm" c="dimmed">
          <span className="mono">{file}</span> · {needs}
        </Text>
        <Copy text={code} what="the snippet" label="Copy" />
      </Group>
      <Code
        block
        tabIndex={0}
        role="region"
        aria-label={`How to verify in ${languages.find((each) => each.value === language)?.label ?? ""}`}
        className="snippet"
      >
        {code}
      </Code>
    </Stack>
  );
}
