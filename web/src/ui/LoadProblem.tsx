import { Anchor } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "wouter";

import { isNotFound } from "~/api/problem.ts";

import { Empty } from "./Empty.tsx";
import { Problem } from "./Problem.tsx";

interface Properties {
  error: unknown;
  retry: () => void;
  what: string; // For example "webhook".
  why: ReactNode; // Why there may be none.
  list: { href: string; label: string }; // Where to go on.
}

/** Why one thing cannot be shown: there is none with this id, or it could not be read. */
export function LoadProblem({ error, retry, what, why, list }: Properties) {
  if (!isNotFound(error)) return <Problem error={error} retry={retry} />;
  return (
    <Empty title={`There is no such ${what}`}>
      {why}{" "}
      <Anchor component={Link} href={list.href}>
        {list.label}
      </Anchor>
    </Empty>
  );
}
