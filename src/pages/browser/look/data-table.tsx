/**
 * A table to search and to sort, a page at a time: of ten thousand rows no more stand in the document than are read.
 *
 * @module
 */
import type { ComponentChildren, JSX } from "preact";
import { useMemo, useState } from "preact/hooks";

import { counted, numberText } from "./figures.ts";
import { SortMark } from "./marks.tsx";

/** A column. */
export interface Column<Row> {
  readonly name: string;
  readonly label: string;
  readonly isNumber?: boolean;
  /** Whether it is left out where there is no room, as on a phone. */
  readonly isWide?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
  readonly compare: (a: Row, b: Row) => number;
}

/** A table of rows. */
export interface DataTableProps<Row> {
  /** The word for a row, such as `account`. */
  readonly thing: string;
  /** The name of the table, unlike that of any other on the page. */
  readonly label: string;
  /** In the order in which they are shown at first. */
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  /** The text of a row that is searched. */
  readonly textOf: (row: Row) => string;
  readonly placeholder: string;
  /** The column that the rows are in the order of, largest first, at the beginning. */
  readonly sortedBy: string;
  readonly rowsShown: number;
}

interface Order {
  readonly by: string;
  readonly descending: boolean;
}

/** The table with its search field and its pages. */
export function DataTable<Row>(props: DataTableProps<Row>): JSX.Element {
  const { thing, label, rows, columns, keyOf, textOf, placeholder, sortedBy, rowsShown } = props;
  const [wanted, setWanted] = useState("");
  const [order, setOrder] = useState<Order>({ by: sortedBy, descending: true });
  const [page, setPage] = useState(0);
  const texts = useMemo(() => new Map(rows.map((row) => [row, textOf(row).toLocaleLowerCase()])), [rows]);
  const found = useMemo(
    () => sorted(searched(rows, texts, wanted), columns, order),
    [rows, texts, wanted, columns, order],
  );
  const sortBy = ({ name, isNumber = false }: Column<Row>): void => {
    setOrder((now) => ({ by: name, descending: now.by === name ? !now.descending : isNumber }));
    setPage(0);
  };
  const search = (text: string): void => {
    setWanted(text);
    setPage(0);
  };
  const isLong = rows.length > 1;
  return (
    <>
      {isLong && (
        <div class="tools screen-only">
          <input
            type="search"
            aria-label={`Search: ${label}`}
            placeholder={placeholder}
            value={wanted}
            onInput={({ currentTarget }) => search(currentTarget.value)}
          />
          <span class="soft" role="status">
            {counted(found.length, thing)}
          </span>
        </div>
      )}
      <div class="scroll" tabIndex={0} role="region" aria-label={label}>
        <table>
          <thead>
            <tr>
              {columns.map((column) => (
                <HeadCell key={column.name} column={column} order={order} onSort={() => sortBy(column)} />
              ))}
            </tr>
          </thead>
          <tbody>
            {found.slice(page * rowsShown, (page + 1) * rowsShown).map((row) => (
              <tr key={keyOf(row)}>
                {columns.map((column) => (
                  <td key={column.name} class={classOf(column)}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {found.length === 0 && <p class="soft">{`No ${thing} has this in its name.`}</p>}
      <Pager label={label} page={page} pages={Math.ceil(found.length / rowsShown)} onPage={setPage} />
    </>
  );
}

function HeadCell<Row>({
  column,
  order,
  onSort,
}: {
  readonly column: Column<Row>;
  readonly order: Order;
  readonly onSort: () => void;
}): JSX.Element {
  const { name, label } = column;
  const isSorted = order.by === name;
  return (
    <th
      scope="col"
      class={classOf(column)}
      {...(isSorted ? { "aria-sort": order.descending ? "descending" : "ascending" } : {})}
    >
      <button type="button" class="sort" onClick={onSort}>
        {label}
        {isSorted && <SortMark descending={order.descending} />}
      </button>
    </th>
  );
}

function classOf<Row>({ isNumber = false, isWide = false }: Column<Row>): string {
  return `${isNumber ? "number" : ""}${isWide ? " wide-only" : ""}`;
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
      <span>{`Page ${numberText(page + 1)} of ${numberText(pages)}`}</span>
      <button type="button" disabled={page >= pages - 1} onClick={() => onPage(page + 1)}>
        Next
      </button>
    </nav>
  );
}

function searched<Row>(rows: readonly Row[], texts: ReadonlyMap<Row, string>, wanted: string): readonly Row[] {
  const words = wanted
    .toLocaleLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return words.length === 0
    ? rows
    : rows.filter((row) => words.every((word) => texts.get(row)?.includes(word) === true));
}

function sorted<Row>(rows: readonly Row[], columns: readonly Column<Row>[], order: Order): readonly Row[] {
  const compare = columns.find(({ name }) => name === order.by)?.compare;
  if (compare === undefined) return rows;
  return rows.toSorted(order.descending ? (a, b) => compare(b, a) : compare);
}

/** Compares names as a person sorts them: `item 2` before `item 10`. */
export const compareNames = new Intl.Collator(undefined, { numeric: true }).compare;
