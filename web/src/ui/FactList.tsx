import { Fragment, type ReactNode } from "react";

import "./numbers.css";

/** Names and values in two columns. Values of undefined are left out. */
export function FactList({ items }: { items: [name: string, value: ReactNode][] }) {
  return (
    <dl className="facts">
      {items
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value ?? "–"}</dd>
          </Fragment>
        ))}
    </dl>
  );
}
