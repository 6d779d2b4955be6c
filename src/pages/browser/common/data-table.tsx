/**
 * Tables. One that is searched and sorted renders one page of rows at a time, so that ten thousand rows stay fast; on
 * paper, all.
 */
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useMemo, useState } from "preact/hooks";

import { formatCount, formatNumber, padDecimals } from "./format.ts";

export interface Column<Row> {
  readonly label: ComponentChildren;
  /** Its look: `number`, `unit`, `wide-only` if narrow screens have no room for it, or several of them. */
  readonly class?: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Absent if rows can't be sorted by the column. */
  readonly compare?: (a: Row, b: Row) => number;
}

interface TableProps<Row> {
  readonly class?: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowClass?: (row: Row) => string;
}

/** A table of a few rows, each headed by its first cell. */
export function Table<Row>({ columns, rows, rowClass, ...table }: TableProps<Row>): JSX.Element {
  return (
    <table {...table}>
      <TableHead columns={columns} />
      <tbody>
        {rows.map((row, index) => (
          <tr key={index} class={rowClass?.(row)}>
            {columns.map(({ cell, ...column }, at) =>
              at === 0 ? (
                <th key={at} scope="row" class={column.class}>
                  {cell(row)}
                </th>
              ) : (
                <td key={at} class={column.class}>
                  {cell(row)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface DataTableProps<Row> {
  /** The word for a row, such as `account`. */
  readonly rowNoun: string;
  /** The name of the table, unique on the page. */
  readonly label: string;
  /** In their initial order. */
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly rowKey: (row: Row) => string;
  /** The text of a row to search in. */
  readonly searchText: (row: Row) => string;
  readonly placeholder: string;
  /** The label of the column by which the rows are initially sorted, largest first. */
  readonly initialSort: string;
  readonly pageSize: number;
  /** What a row opens to. */
  readonly detail: RowDetail<Row>;
}

interface RowDetail<Row> {
  /** The name of the button that opens a row. */
  readonly label: (row: Row) => string;
  readonly canOpen: (row: Row) => boolean;
  readonly render: (row: Row) => ComponentChildren;
}

interface SortOrder {
  /** The index of a column. */
  readonly by: number;
  readonly isDescending: boolean;
}

/** Whether the page is being printed. */
export function useIsPrinting(): boolean {
  const [isPrinting, setIsPrinting] = useState(false);
  useEffect(() => {
    const listening = new AbortController();
    const onPrint = ({ type }: Event): void => setIsPrinting(type === "beforeprint");
    for (const type of ["beforeprint", "afterprint"]) addEventListener(type, onPrint, listening);
    return () => listening.abort();
  }, []);
  return isPrinting;
}

/** The table with a search field and pages. */
export function DataTable<Row>(props: DataTableProps<Row>): JSX.Element {
  const { rowNoun, label, rows, columns, rowKey, searchText, placeholder, initialSort, pageSize, detail } = props;
  const [query, setQuery] = useState("");
  const [order, setOrder] = useState<SortOrder>(() => ({
    by: columns.findLastIndex((column) => column.label === initialSort),
    isDescending: true,
  }));
  const [page, setPage] = useState(0);
  const isPrinting = useIsPrinting();
  const matchingRows = useMemo(
    () => sortRows(searchRows(rows, searchText, query), columns, order),
    [rows, query, columns, order],
  );
  const sortBy = (by: number): void => {
    const isNumber = columns[by]?.class?.includes("number") === true;
    setOrder((previous) => ({ by, isDescending: previous.by === by ? !previous.isDescending : isNumber }));
    setPage(0);
  };
  const search = (text: string): void => {
    setQuery(text);
    setPage(0);
  };
  const isSearchable = rows.length > 1;
  return (
    <>
      {isSearchable && (
        <div class="tools screen-only">
          <input
            type="search"
            aria-label={`Search: ${label}`}
            placeholder={placeholder}
            value={query}
            onInput={({ currentTarget }) => search(currentTarget.value)}
          />
          <span class="soft" role="status">
            {formatCount(matchingRows.length, rowNoun)}
          </span>
        </div>
      )}
      <div class="scroll" tabIndex={0} role="region" aria-label={label}>
        <table>
          <thead>
            <tr>
              <td class="toggle-cell" />
              {columns.map((column, index) => (
                <HeaderCell
                  key={index}
                  column={column}
                  isDescending={order.by === index ? order.isDescending : undefined}
                  onSort={() => sortBy(index)}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {(isPrinting ? matchingRows : matchingRows.slice(page * pageSize, (page + 1) * pageSize)).map((row) => (
              <BodyRow key={rowKey(row)} row={row} columns={columns} detail={detail} />
            ))}
          </tbody>
        </table>
      </div>
      {matchingRows.length === 0 && (
        <p class="soft">{`No ${rowNoun} matches. ${placeholder} with fewer or other letters.`}</p>
      )}
      <Pager label={label} page={page} pages={Math.ceil(matchingRows.length / pageSize)} onPage={setPage} />
    </>
  );
}

interface BodyRowProps<Row> extends Pick<DataTableProps<Row>, "columns" | "detail"> {
  readonly row: Row;
}

/** A row, and below it what it opens to. */
function BodyRow<Row>({ row, columns, detail }: BodyRowProps<Row>): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const detailId = useId();
  return (
    <>
      <tr class={isOpen ? "open" : ""}>
        <td class="toggle-cell">
          {detail.canOpen(row) && (
            <button
              type="button"
              class="toggle"
              aria-label={detail.label(row)}
              aria-expanded={isOpen}
              aria-controls={isOpen ? detailId : undefined}
              onClick={() => setOpen(!isOpen)}
            >
              <svg width="8" height="10" viewBox="0 0 8 10" aria-hidden="true">
                <path d="M1 1l5 4-5 4" />
              </svg>
            </button>
          )}
        </td>
        {columns.map(({ cell, ...column }, index) => (
          <td key={index} class={column.class}>
            {cell(row)}
          </td>
        ))}
      </tr>
      {isOpen && (
        <tr id={detailId} class="row-detail">
          <td colSpan={columns.length + 1}>{detail.render(row)}</td>
        </tr>
      )}
    </>
  );
}

interface HeaderCellProps<Row> {
  readonly column: Column<Row>;
  /** Whether the rows are sorted by it, descending or not; undefined if by another one. */
  readonly isDescending: boolean | undefined;
  readonly onSort: () => void;
}

function HeaderCell<Row>({ column, isDescending, onSort }: HeaderCellProps<Row>): JSX.Element {
  const { label, compare } = column;
  const direction = isDescending === undefined ? undefined : isDescending ? "descending" : "ascending";
  return (
    <th scope="col" class={column.class} aria-sort={direction}>
      {compare === undefined ? (
        label
      ) : (
        <button type="button" class="sort" onClick={onSort}>
          {label}
          {direction !== undefined && (
            <svg class="sort-mark" width="9" height="7" viewBox="0 0 9 7" aria-hidden="true">
              <path d={isDescending === true ? "M0 0h9L4.5 7z" : "M0 7h9L4.5 0z"} />
            </svg>
          )}
        </button>
      )}
    </th>
  );
}

interface PagerProps {
  readonly label: string;
  readonly page: number;
  readonly pages: number;
  readonly onPage: (page: number) => void;
}

function Pager({ label, page, pages, onPage }: PagerProps): JSX.Element | null {
  if (pages < 2) return null;
  return (
    <nav class="pager screen-only" aria-label={`Pages: ${label}`}>
      <button type="button" disabled={page === 0} onClick={() => onPage(page - 1)}>
        Previous
      </button>
      <span>{`Page ${formatNumber(page + 1)} of ${formatNumber(pages)}`}</span>
      <button type="button" disabled={page >= pages - 1} onClick={() => onPage(page + 1)}>
        Next
      </button>
    </nav>
  );
}

function searchRows<Row>(rows: readonly Row[], textOf: (row: Row) => string, query: string): readonly Row[] {
  const words = query.toLocaleLowerCase().trim().split(/\s+/);
  return rows.filter((row) => {
    const text = textOf(row).toLocaleLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function sortRows<Row>(rows: readonly Row[], columns: readonly Column<Row>[], order: SortOrder): readonly Row[] {
  const compare = columns[order.by]?.compare;
  if (compare === undefined) return rows;
  return rows.toSorted(order.isDescending ? (a, b) => compare(b, a) : compare);
}

/** Compares names in natural order: `item 2` before `item 10`. */
export const compareNames = new Intl.Collator(undefined, { numeric: true }).compare;

interface AlignedProps {
  readonly text: string;
  /** The decimal places of the number. */
  readonly shown: number;
  /** The most decimal places in the column. */
  readonly most: number;
}

/** A number with the room that its missing decimal places would take, so that a column has one decimal point. */
export function Aligned({ text, shown, most }: AlignedProps): JSX.Element {
  const [digits, lacking, unit] = padDecimals(text, shown, most);
  return (
    <>
      {digits}
      {lacking !== "" && (
        <span class="pad" aria-hidden="true">
          {lacking}
        </span>
      )}
      {unit}
    </>
  );
}

interface TableHeadProps {
  readonly columns: readonly { readonly label: ComponentChildren; readonly class?: string; readonly span?: number }[];
}

/** The head of a table. */
export function TableHead({ columns }: TableHeadProps): JSX.Element {
  return (
    <thead>
      <tr>
        {columns.map((column, index) => (
          <th key={index} scope="col" class={column.class} colSpan={column.span}>
            {column.label}
          </th>
        ))}
      </tr>
    </thead>
  );
}
