import { Anchor } from "@mantine/core";
import { Link } from "wouter";

import { Notice } from "~/ui/Notice.tsx";

import { useMailServer } from "./useChannels.ts";

/** Says so if this server cannot send mails. */
export function MailServerNotice() {
  if (useMailServer() !== false) return null;
  return (
    <Notice tone="wait" title="No mail server is configured">
      Channels of kind e-mail cannot send anything. Set <span className="mono">smtp.server</span> in
      the configuration file and restart the server.{" "}
      <Anchor component={Link} href="/settings?q=smtp" size="sm" c="inherit" underline="always">
        See the settings
      </Anchor>
    </Notice>
  );
}
