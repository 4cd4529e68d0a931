// A table with a choice of columns, export and paging. Sorting and filtering are the API's.
import { ActionIcon, Button, Checkbox, Group, Menu, Skeleton, Table, Text } from "@mantine/core";
import { IconArrowDown, IconDotsVertical } from "@tabler/icons-react";
import type { MouseEvent, ReactNode } from "react";
import { useLocation } from "wouter";

import { type Cell, download, toCsv } from "~/lib/export.ts";
import { tableWidth } from "~/lib/tableWidth.ts";

import { useHiddenColumns } from "./preferences.ts";
import { Problem } from "./Problem.tsx";

export interface Column<Row> {
  id: string;
  header: string;
  cell: (row: Row) => ReactNode;
  value: (row: Row) => Cell; // In exported files.
  width?: string; // In rem or per cent. Without it, the column takes its share of the rest.
  hidden?: boolean; // Unless the visitor chooses to see it.
  sort?: string; // The value of the API's `sort`.
  isAction?: boolean; // Has buttons only: always shown, never exported.
}

export interface Paging {
  next: string | null; // The cursor of the next page.
  isFirst: boolean;
  go: (cursor: string | null) => void;
}

interface Properties<Row> {
  name: string; // Of the exported file and the remembered columns.
  label: string; // What the table shows, for screen readers.
  columns: Column<Row>[];
  rows: Row[] | undefined; // undefined: still loading.
  rowKey: (row: Row) => string;
  href?: (row: Row) => string;
  empty: ReactNode;
  error?: unknown;
  retry?: () => void;
  paging?: Paging;
  sort?: { current: string | undefined; change: (sort: string) => void };
  selection?: Selection;
  tools?: ReactNode;
  minWidth?: number; // In pixels, if more than the columns need. Narrower places scroll.
}

function TableMenu<Row>(props: Properties<Row> & Hidden) {
  const shown = props.columns.filter((column) => !props.hidden.includes(column.id));
  const choices = props.columns.filter((column) => !column.isAction);
  const rows = props.rows ?? [];
  const exportCsv = () => {
    const exported = shown.filter((column) => !column.isAction);
    const header = exported.map((column) => column.header);
    const cells = rows.map((row) => exported.map((column) => column.value(row)));
    download(`${props.name}.csv`, "text/csv", toCsv(header, cells));
  };
  const exportJson = () =>
    download(`${props.name}.json`, "application/json", JSON.stringify(rows, null, 2));
  return (
    <Menu position="bottom-end" closeOnItemClick={false}>
      <Menu.Target>
        <ActionIcon variant="default" size="lg" aria-label="Columns and export">
          <IconDotsVertical size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Columns</Menu.Label>
        {choices.map((column) => (
          <Menu.Item
            key={column.id}
            role="menuitemcheckbox"
            aria-checked={!props.hidden.includes(column.id)}
            onClick={() => props.toggle(column.id)}
          >
            <Checkbox
              checked={!props.hidden.includes(column.id)}
              readOnly
              tabIndex={-1}
              aria-hidden
              label={column.header}
            />
          </Menu.Item>
        ))}
        <Menu.Label>Export these {rows.length} rows</Menu.Label>
        <Menu.Item closeMenuOnClick onClick={exportCsv}>
          CSV
        </Menu.Item>
        <Menu.Item closeMenuOnClick onClick={exportJson}>
          JSON
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

interface Hidden {
  hidden: string[];
  toggle: (id: string) => void;
}

function Pager({ paging }: { paging: Paging }) {
  return (
    <Group justify="flex-end" mt="sm">
      {!paging.isFirst && (
        <Button variant="default" size="xs" onClick={() => paging.go(null)}>
          First page
        </Button>
      )}
      <Button
        variant="default"
        size="xs"
        disabled={paging.next === null}
        onClick={() => paging.go(paging.next)}
      >
        Next page
      </Button>
    </Group>
  );
}

/** A page may be empty and have a successor: one call of the API reads a limited number of rows. */
const isOnlyPage = (paging: Paging) => paging.isFirst && paging.next === null;

function HeaderCell<Row>({ column, sort }: { column: Column<Row>; sort: Properties<Row>["sort"] }) {
  const name = column.sort;
  if (!name || !sort) return <>{column.header}</>;
  const isCurrent = sort.current === name;
  return (
    <Button
      variant="subtle"
      color="gray"
      size="compact-sm"
      px={0}
      aria-pressed={isCurrent}
      onClick={() => sort.change(name)}
      rightSection={isCurrent ? <IconArrowDown size={14} /> : undefined}
    >
      {column.header}
    </Button>
  );
}

interface Selection {
  selected: Set<string>;
  change: (selected: Set<string>) => void;
}

/** Selects the rows of this page, or none. */
function SelectAll({ keys, selection }: { keys: string[]; selection: Selection }) {
  const count = keys.filter((key) => selection.selected.has(key)).length;
  const isAll = count === keys.length && count > 0;
  return (
    <Checkbox
      aria-label="Select all rows of this page"
      checked={isAll}
      indeterminate={count > 0 && !isAll}
      onChange={() => selection.change(new Set(isAll ? [] : keys))}
    />
  );
}

const skeletonRows = 8;
const selectionWidth = "2.75rem";
/** A click that ends a selection of text is no wish to leave the page. */
const isSelectingText = () => window.getSelection()?.isCollapsed === false;

export function DataTable<Row>(props: Properties<Row>) {
  const { columns, rows, selection } = props;
  const [, navigate] = useLocation();
  const initial = columns.filter((column) => column.hidden).map((column) => column.id);
  const [hidden, setHidden] = useHiddenColumns(props.name, initial);
  const toggle = (id: string) =>
    setHidden(hidden.includes(id) ? hidden.filter((each) => each !== id) : [...hidden, id]);
  const shown = columns.filter((column) => !hidden.includes(column.id));

  const select = (key: string) => {
    if (!selection) return;
    const selected = new Set(selection.selected);
    if (!selected.delete(key)) selected.add(key);
    selection.change(selected);
  };
  const needed = tableWidth([...(selection ? [selectionWidth] : []), ...shown.map((c) => c.width)]);
  // The link in the row is what the keyboard and screen readers use.
  const open = (event: MouseEvent<HTMLElement>, row: Row) => {
    const isControl = (event.target as HTMLElement).closest("a, button, input, label");
    if (props.href && !isControl && !isSelectingText()) navigate(props.href(row));
  };

  return (
    <div>
      <Group justify="space-between" mb="sm" align="flex-end" wrap="nowrap">
        <Group gap="sm" align="flex-end" flex={1}>
          {props.tools}
        </Group>
        <TableMenu {...props} hidden={hidden} toggle={toggle} />
      </Group>
      {props.error !== undefined && props.error !== null && (
        <Problem error={props.error} retry={props.retry} />
      )}
      {rows?.length === 0 ? (
        props.empty
      ) : (
        <Table.ScrollContainer
          className="data-table-frame"
          minWidth={Math.max(props.minWidth ?? 0, needed)}
          // Focusable, so that the keyboard can scroll it.
          scrollAreaProps={{
            viewportProps: { tabIndex: 0, role: "region", "aria-label": props.label },
          }}
        >
          <Table className="data-table" highlightOnHover={props.href !== undefined}>
            <caption hidden>{props.label}</caption>
            <Table.Thead>
              <Table.Tr>
                {selection && (
                  <Table.Th w={selectionWidth}>
                    <SelectAll keys={rows?.map(props.rowKey) ?? []} selection={selection} />
                  </Table.Th>
                )}
                {shown.map((column) => (
                  <Table.Th key={column.id} w={column.width} scope="col">
                    <HeaderCell column={column} sort={props.sort} />
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows === undefined &&
                !props.error &&
                Array.from({ length: skeletonRows }, (_, index) => (
                  <Table.Tr key={index}>
                    <Table.Td colSpan={shown.length + (selection ? 1 : 0)}>
                      <Skeleton height={14} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              {rows?.map((row) => {
                const key = props.rowKey(row);
                return (
                  <Table.Tr
                    key={key}
                    data-link={props.href !== undefined}
                    onClick={(event) => open(event, row)}
                  >
                    {selection && (
                      <Table.Td>
                        <Checkbox
                          checked={selection.selected.has(key)}
                          onChange={() => select(key)}
                          aria-label={`Select ${key}`}
                        />
                      </Table.Td>
                    )}
                    {shown.map((column) => (
                      <Table.Td key={column.id}>{column.cell(row)}</Table.Td>
                    ))}
                  </Table.Tr>
                );
              })}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {props.paging && rows && (rows.length > 0 || !isOnlyPage(props.paging)) && (
        <Pager paging={props.paging} />
      )}
      {rows && rows.length > 0 && (
        <Text size="xs" c="dimmed" aria-live="polite">
          {rows.length} {rows.length === 1 ? "row" : "rows"}
        </Text>
      )}
    </div>
  );
}
