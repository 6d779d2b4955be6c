/** A searchable, sortable table. It renders one page of rows at a time, so that ten thousand rows stay fast. */
import type { ComponentChildren, JSX } from "preact";
import { useMemo, useState } from "preact/hooks";

import { formatCount, formatNumber } from "./format.ts";

export interface Column<Row> {
  readonly name: string;
  readonly label: string;
  readonly isNumber?: boolean;
  /** Whether the column is only shown on wide screens. */
  readonly isWideOnly?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
  readonly compare: (a: Row, b: Row) => number;
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
  /** The column by which the rows are initially sorted, largest first. */
  readonly initialSort: string;
  readonly pageSize: number;
}

interface SortOrder {
  readonly by: string;
  readonly isDescending: boolean;
}

/** The table with a search field and pages. */
export function DataTable<Row>(props: DataTableProps<Row>): JSX.Element {
  const { rowNoun, label, rows, columns, rowKey, searchText, placeholder, initialSort, pageSize } = props;
  const [query, setQuery] = useState("");
  const [order, setOrder] = useState<SortOrder>({ by: initialSort, isDescending: true });
  const [page, setPage] = useState(0);
  const searchTexts = useMemo(() => new Map(rows.map((row) => [row, searchText(row).toLocaleLowerCase()])), [rows]);
  const matchingRows = useMemo(
    () => sortRows(searchRows(rows, searchTexts, query), columns, order),
    [rows, searchTexts, query, columns, order],
  );
  const sortBy = ({ name, isNumber = false }: Column<Row>): void => {
    setOrder((previous) => ({ by: name, isDescending: previous.by === name ? !previous.isDescending : isNumber }));
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
              {columns.map((column) => (
                <HeaderCell key={column.name} column={column} order={order} onSort={() => sortBy(column)} />
              ))}
            </tr>
          </thead>
          <tbody>
            {matchingRows.slice(page * pageSize, (page + 1) * pageSize).map((row) => (
              <tr key={rowKey(row)}>
                {columns.map((column) => (
                  <td key={column.name} class={cellClass(column)}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {matchingRows.length === 0 && <p class="soft">{`No ${rowNoun} has this in its name.`}</p>}
      <Pager label={label} page={page} pages={Math.ceil(matchingRows.length / pageSize)} onPage={setPage} />
    </>
  );
}

function HeaderCell<Row>({
  column,
  order,
  onSort,
}: {
  readonly column: Column<Row>;
  readonly order: SortOrder;
  readonly onSort: () => void;
}): JSX.Element {
  const { name, label } = column;
  const isSorted = order.by === name;
  return (
    <th
      scope="col"
      class={cellClass(column)}
      {...(isSorted ? { "aria-sort": order.isDescending ? "descending" : "ascending" } : {})}
    >
      <button type="button" class="sort" onClick={onSort}>
        {label}
        {isSorted && <SortMark isDescending={order.isDescending} />}
      </button>
    </th>
  );
}

/** The sort direction of a column. */
function SortMark({ isDescending }: { readonly isDescending: boolean }): JSX.Element {
  return (
    <svg class="sort-mark" width="9" height="7" viewBox="0 0 9 7" aria-hidden="true">
      <path d={isDescending ? "M0 0h9L4.5 7z" : "M0 7h9L4.5 0z"} />
    </svg>
  );
}

function cellClass<Row>({ isNumber = false, isWideOnly = false }: Column<Row>): string {
  return `${isNumber ? "number" : ""}${isWideOnly ? " wide-only" : ""}`;
}

function Pager({
  label,
  page,
  pages,
  onPage,
}: {
  readonly label: string;
  readonly page: number;
  readonly pages: number;
  readonly onPage: (page: number) => void;
}): JSX.Element | null {
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

function searchRows<Row>(rows: readonly Row[], searchTexts: ReadonlyMap<Row, string>, query: string): readonly Row[] {
  const words = query
    .toLocaleLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return words.length === 0
    ? rows
    : rows.filter((row) => words.every((word) => searchTexts.get(row)?.includes(word) === true));
}

function sortRows<Row>(rows: readonly Row[], columns: readonly Column<Row>[], order: SortOrder): readonly Row[] {
  const compare = columns.find(({ name }) => name === order.by)?.compare;
  if (compare === undefined) return rows;
  return rows.toSorted(order.isDescending ? (a, b) => compare(b, a) : compare);
}

/** Compares names in natural order: `item 2` before `item 10`. */
export const compareNames = new Intl.Collator(undefined, { numeric: true }).compare;

/** The head of a table. */
export function TableHead({
  columns,
}: {
  readonly columns: readonly { readonly label: ComponentChildren; readonly class?: string }[];
}): JSX.Element {
  return (
    <thead>
      <tr>
        {columns.map((column, index) => (
          <th key={index} scope="col" class={column.class}>
            {column.label}
          </th>
        ))}
      </tr>
    </thead>
  );
}
