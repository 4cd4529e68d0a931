import { ActionIcon, Menu, Text, useMantineColorScheme } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import {
  IconLogout,
  IconMoon,
  IconSun,
  IconSunMoon,
  IconUser,
  IconWorld,
} from "@tabler/icons-react";

import { signOut, useSession } from "~/api/session.tsx";
import { useTimeZone } from "~/ui/preferences.ts";
import { notifyProblem } from "~/ui/Problem.tsx";
import { Time } from "~/ui/Time.tsx";

const schemes = [
  { value: "light", label: "Light", icon: IconSun },
  { value: "dark", label: "Dark", icon: IconMoon },
  { value: "auto", label: "As the system", icon: IconSunMoon },
] as const;

/** Who is signed in, how the pages look, and the way out. */
export function VisitorMenu({ onSignedOut }: { onSignedOut: () => void }) {
  const session = useSession();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const [zone, setZone] = useTimeZone();
  const leave = useMutation({
    mutationFn: () => signOut(session),
    onSuccess: onSignedOut,
    onError: notifyProblem,
  });
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <ActionIcon variant="default" size="lg" aria-label="Your session and preferences">
          <IconUser size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {session.key_name} · {session.tenant_id ?? session.scope}
          {session.role === "viewer" ? " · viewer" : ""}
          <Text size="xs">
            Session ends <Time at={session.expires_at} />
          </Text>
        </Menu.Label>
        <Menu.Divider />
        {schemes.map(({ value, label, icon: Icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon size={16} />}
            role="menuitemradio"
            aria-checked={colorScheme === value}
            fw={colorScheme === value ? 600 : undefined}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconWorld size={16} />}
          onClick={() => setZone(zone === "utc" ? "local" : "utc")}
        >
          {zone === "utc" ? "Show local times" : "Show times in UTC"}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => leave.mutate()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
