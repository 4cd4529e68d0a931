import { Anchor, Center, Loader } from "@mantine/core";
import { Component, type ReactNode, Suspense } from "react";
import { Link, Route, Switch, useLocation } from "wouter";

import { useRights } from "~/api/session.tsx";
import { Empty } from "~/ui/Empty.tsx";
import { Problem } from "~/ui/Problem.tsx";

import { pages } from "./pages.ts";

/** A page that fails leaves the frame usable. */
class PageBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: null };
  static getDerivedStateFromError(error: unknown) {
    return { error };
  }
  override render() {
    if (this.state.error === null) return this.props.children;
    return <Problem error={this.state.error} retry={() => this.setState({ error: null })} />;
  }
}

function NoSuchPage() {
  const { read } = useRights();
  if (!read) {
    return (
      <Empty title="This key can only publish events">
        <Anchor component={Link} href="/events/new">
          Publish an event
        </Anchor>
      </Empty>
    );
  }
  return (
    <Empty title="There is no such page">
      <Anchor component={Link} href="/">
        Go to the overview
      </Anchor>
    </Empty>
  );
}

export function Routes() {
  const rights = useRights();
  const [path] = useLocation();
  return (
    <PageBoundary key={path}>
      <Suspense
        fallback={
          <Center h={240}>
            <Loader role="status" aria-label="Loading the page" />
          </Center>
        }
      >
        <Switch>
          {pages.map((page) => (
            <Route
              key={page.path}
              path={page.path}
              component={page.shown(rights) ? page.component : NoSuchPage}
            />
          ))}
          <Route component={NoSuchPage} />
        </Switch>
      </Suspense>
    </PageBoundary>
  );
}
