import { AppShell, Burger, Group, Image, NavLink, ScrollArea, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useLayoutEffect } from "react";
import { Link, useLocation } from "wouter";

import { rightsOf, type Session, useSession } from "~/api/session.tsx";
import { BaseTitle } from "~/ui/documentTitle.ts";

import icon from "./icon.svg";
import { Palette, PaletteButton } from "./Palette.tsx";
import { pages } from "./pages.ts";
import { Routes } from "./Routes.tsx";
import { VisitorMenu } from "./VisitorMenu.tsx";

/** A logo is of this server or comes over https; anything else is not shown. */
export const logoOf = (url: string | null) =>
  url && /^(https:\/\/|\/(?!\/))/.test(url) ? url : icon;

function Brand({ session }: { session: Session }) {
  const { title, logo_url } = session.branding;
  return (
    <Group gap="xs" wrap="nowrap" miw={0}>
      <Image src={logoOf(logo_url)} fallbackSrc={icon} alt="" h={28} w={28} fit="contain" />
      <Text fw={650} size="lg" className="truncate" data-testid="brand">
        {title}
      </Text>
    </Group>
  );
}

const isAt = (path: string, page: string) =>
  path === page || (page !== "/" && path.startsWith(`${page}/`));

function Menu({ onNavigate }: { onNavigate: () => void }) {
  const [path] = useLocation();
  const rights = rightsOf(useSession());
  return (
    <ScrollArea component="nav" aria-label="Pages">
      {pages.map((page) => {
        if (!page.menu || !page.shown(rights)) return null;
        const Icon = page.menu.icon;
        const isHere = isAt(path, page.path);
        return (
          <NavLink
            key={page.path}
            component={Link}
            href={page.path}
            label={page.menu.label}
            leftSection={<Icon size={18} />}
            active={isHere}
            aria-current={isHere ? "page" : undefined}
            onClick={onNavigate}
          />
        );
      })}
    </ScrollArea>
  );
}

/** The frame around every page. */
export function Shell({ onSignedOut }: { onSignedOut: () => void }) {
  const session = useSession();
  const [opened, { toggle, close }] = useDisclosure();
  const [path] = useLocation();
  const section = pages.find((each) => each.menu && isAt(path, each.path))?.menu?.label;
  const { title } = session.branding;
  const base = section ? `${section} · ${title}` : title;
  // Until a page has a title of its own, whose effect comes after this one.
  useLayoutEffect(() => {
    document.title = base;
  }, [base, path]);
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: "sm", collapsed: { mobile: !opened } }}
      padding="md"
    >
      <AppShell.Header>
        <a className="skip-link" href="#content">
          Skip to the content
        </a>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={opened ? "Close the menu" : "Open the menu"}
            />
            <Brand session={session} />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <PaletteButton />
            <VisitorMenu onSignedOut={onSignedOut} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs">
        <Menu onNavigate={close} />
        {rightsOf(session).operator && (
          <Text size="xs" c="dimmed" mt="auto" p="xs">
            Postrider {session.server.version}
          </Text>
        )}
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <BaseTitle.Provider value={base}>
          <Routes />
        </BaseTitle.Provider>
      </AppShell.Main>
      <Palette />
    </AppShell>
  );
}
