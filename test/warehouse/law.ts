/** The core's results for rows, and those of a database and the core together, for comparison. */
import { Decimal } from "decimal.js";
import fc from "fast-check";
import { expect } from "vitest";

import { readBook } from "../../src/book/book.ts";
import type { Book } from "../../src/book/resources/book.ts";
import { tryParseInstant } from "../../src/calendar/instant.ts";
import { readEventFileMap, createEventMaker, type EventMaker } from "../../src/event-files/event-file-map.ts";
import { type EventSink, type EventCursor, mergeEvents } from "../../src/event-files/merge-events.ts";
import { rememberIds } from "../../src/ledger/preview/accepted-ids.ts";
import { startEventRun } from "../../src/ledger/preview/preview-run.ts";
import type { UsageCell } from "../../src/metering/usage.ts";
import { formatDecimal } from "../../src/numbers/decimal.ts";
import type { DatabaseReadOptions } from "../../src/warehouse/reading/database-cursors.ts";
import { books, rows, type TableRow } from "./rows.ts";

/** The columns of a table or a file. */
export const COLUMNS = ["schema", "id", "account", "time", "x", "y", "d"] as const;

/** The map of the columns; times without a zone are an hour and a half east of UTC if the column has no zone itself. */
export const MAP = JSON.stringify({
  schemaName: { column: "schema" },
  id: { column: "id" },
  accountId: { column: "account" },
  timestamp: { column: "time", zone: "+01:30" },
  attributes: { x: { column: "x" }, y: { column: "y" } },
  dimensions: { d: { column: "d" } },
});

/** The columns of tables or files, in the order of their map. */
export interface TableShape {
  readonly columns: readonly string[];
  readonly map: string;
}

/** The shape of random rows. */
export const RANDOM_SHAPE: TableShape = { columns: COLUMNS, map: MAP };

/** A row as stored: its texts as in an event, and as the database orders them. */
export interface ReadRow {
  readonly record: readonly string[];
  readonly order: readonly string[];
}

/** The types of columns that may be other than text. */
export interface Types {
  readonly x: string;
  readonly y: string;
  readonly time: string;
}

/** Rows in a database. */
export interface WrittenRows {
  /** By their files, or tables. */
  readonly read: readonly (readonly ReadRow[])[];
  /** How a problem's row is named; undefined if rows have no numbers. */
  readonly placeOf: (file: number, row: number) => string | undefined;
  readonly open: (sink: EventSink, reading: DatabaseReadOptions) => Promise<readonly EventCursor[]>;
}

/** A database that stores rows during an operation. */
export type World = <Result>(
  files: readonly (readonly TableRow[])[],
  types: Types,
  work: (rows: WrittenRows) => Promise<Result>,
) => Promise<Result>;

/** The results of the rows. */
export interface Outcome {
  readonly cells: readonly string[];
  /** The cells that decide quantities. */
  readonly decisiveCells: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  /** The events that no meter counts, by their values. */
  readonly unmetered: readonly string[];
  readonly problems: readonly string[];
  readonly span: unknown;
}

/** Makes the events of rows with the columns of {@link MAP}. */
export function createRowReader(): EventMaker<readonly string[]> {
  return createEventMaker(readEventFileMap("map", MAP), (name) => {
    const place = COLUMNS.findIndex((column) => column === name);
    return (record) => record[place] ?? "";
  });
}

/** Passes events to `onEvent` and sums to a run, and counts the events that were summed. */
export function createSummingSink(
  run: Pick<ReturnType<typeof startEventRun>, "addSummed">,
  onEvent: (file: string, line: number, event: unknown) => void,
): { readonly sink: EventSink; readonly sumCount: () => number } {
  let sumCount = 0;
  const sink: EventSink = {
    onEvent(file, line, event) {
      onEvent(file, line, event);
      return true;
    },
    onBadLine: () => true,
    onSummedEvents(events) {
      const isTaken = run.addSummed(events);
      if (isTaken) sumCount += events.eventCount;
      return isTaken;
    },
  };
  return { sink, sumCount: () => sumCount };
}

/** Every event decided by the core alone, in the order of S17.2. */
export function byCore(book: Book, { read, placeOf }: WrittenRows, dedupes: boolean): Outcome {
  const make = createRowReader();
  const events = read.flatMap((rows, file) =>
    rows.map(({ record, order }, row) => {
      const event = make(record, row + 1);
      const at = "code" in event ? undefined : tryParseInstant(event.timestamp);
      return { event, at: at ?? -Infinity, order: contentOf(order), place: placeOf(file, row + 1) ?? "" };
    }),
  );
  events.sort((a, b) => (a.at === b.at ? byTexts(a.order, b.order) : a.at < b.at ? -1 : 1));
  const run = startEventRun(book, { ids: dedupes ? rememberIds() : undefined });
  const problems: string[] = [];
  for (const { event, place } of events) {
    const { status, description } = run.add(event);
    if (isFailure(status)) problems.push(`${place} ${status} ${description}`);
  }
  return toOutcome(run, book, problems);
}

/** The id, then all columns in the order of the map. */
function contentOf([schema = "", id = "", account = "", ...others]: readonly string[]): readonly string[] {
  return [id, schema, account, id, ...others];
}

/** Compares texts by code points, which is the order of their bytes. */
export function byTexts(a: readonly string[], b: readonly string[]): number {
  for (const [place, text] of a.entries()) {
    const order = Buffer.compare(Buffer.from(text), Buffer.from(b[place] ?? ""));
    if (order !== 0) return order;
  }
  return 0;
}

/** Plain rows are summed by a database and others decided by the core; or all by the core, from the same database. */
export async function byDatabase(
  book: Book,
  { open, placeOf }: WrittenRows,
  { dedupes, usesPushdown, keepsValues = false }: Omit<DatabaseReadOptions, "book">,
): Promise<Outcome & { readonly sumCount: number }> {
  const run = startEventRun(book, { ids: dedupes ? rememberIds() : undefined });
  const problems: string[] = [];
  const hasPlaces = placeOf(0, 1) !== undefined;
  const { sink, sumCount } = createSummingSink(run, (file, line, event) => {
    const { status, description } = run.add(event);
    if (isFailure(status)) problems.push(`${hasPlaces ? `${file}:${line}` : ""} ${status} ${description}`);
  });
  const cursors = await open(sink, { book, usesPushdown, dedupes, keepsValues });
  await mergeEvents(cursors, { onDisorder: ({ message }) => problems.push(message) });
  return { ...toOutcome(run, book, problems), sumCount: sumCount() };
}

function isFailure(status: string): boolean {
  return !status.startsWith("INGESTION_COMPLETED") && status !== "INGESTION_FAILED_DUPLICATE_EVENT";
}

/**
 * The cells that decide quantities, each value once: a database gives of the values of a day that MAX or MIN has only the
 * largest or the smallest, and does not count those of UNIQUE_COUNT.
 */
function findDecisiveCells(cells: Iterable<UsageCell>, { usageMeters }: Book): readonly UsageCell[] {
  const decisive = new Map<string, UsageCell>();
  for (const cell of cells) {
    const { aggregation } = usageMeters.find(({ id }) => id === cell.meterId) ?? {};
    const group = cell.group ?? [];
    const isExtreme = aggregation === "MAX" || aggregation === "MIN";
    const key = JSON.stringify([cell.accountId, cell.meterId, cell.day, isExtreme ? group.slice(0, -1) : group]);
    const other = decisive.get(key);
    const isDecisive =
      other === undefined ||
      new Decimal(group.at(-1) ?? 0).comparedTo(other.group?.at(-1) ?? 0) === (aggregation === "MAX" ? 1 : -1);
    if (isDecisive)
      decisive.set(key, isExtreme || aggregation === "UNIQUE_COUNT" ? { ...cell, quantity: new Decimal(1) } : cell);
  }
  return [...decisive.values()];
}

function toOutcome(run: ReturnType<typeof startEventRun>, book: Book, problems: readonly string[]): Outcome {
  const span = run.span();
  return {
    cells: [...run.usage.cells()].map(formatCell),
    decisiveCells: findDecisiveCells(run.usage.cells(), book).map(formatCell),
    counts: run.counts(),
    unmetered: run
      .unmetered()
      .map((each) => JSON.stringify(each))
      .toSorted(),
    problems: problems.toSorted(),
    span: span && [span.first.timestamp, span.last.timestamp],
  };
}

function formatCell({ accountId, meterId, day, group, quantity }: UsageCell): string {
  return `${accountId} ${meterId} ${day} ${group === undefined ? "" : `${JSON.stringify(group)} `}${formatDecimal(quantity)}`;
}

/** The compared values. */
export function comparable({ cells, decisiveCells, counts, unmetered, problems, span }: Outcome): Outcome {
  return { cells, decisiveCells, counts, unmetered, problems, span };
}

/**
 * Checks on random books and rows that a database and the core give the same cells, outcomes and problems as the core
 * alone.
 */
export async function checkLaw(
  world: World,
  { types, numRuns }: { readonly types: fc.Arbitrary<Types>; readonly numRuns: number },
): Promise<void> {
  const arbitraryCase = fc.record({
    json: books,
    files: fc.array(fc.array(rows, { maxLength: 25, size: "max" }), { minLength: 1, maxLength: 2 }),
    typed: types,
    dedupes: fc.boolean(),
  });
  let runsWithSums = 0;
  await fc.assert(
    fc.asyncProperty(arbitraryCase, async ({ json, files, typed: columnTypes, dedupes }) => {
      const book = readBook(JSON.stringify(json));
      await world(files, columnTypes, async (rows) => {
        const expected = byCore(book, rows, dedupes);
        const one = await byDatabase(book, rows, { dedupes, usesPushdown: false });
        expect(comparable(one)).toEqual(expected);
        const all = await byDatabase(book, rows, { dedupes, usesPushdown: true, keepsValues: true });
        expect(comparable(all)).toEqual(expected);
        const both = await byDatabase(book, rows, { dedupes, usesPushdown: true });
        expect({ ...comparable(both), cells: [] }).toEqual({ ...expected, cells: [] });
        if (both.sumCount > 0) runsWithSums += 1;
      });
    }),
    { numRuns },
  );
  // The law is trivial if nothing is pushed down: two runs in five push down, but of a few runs possibly none.
  if (numRuns >= 100) expect(runsWithSums).toBeGreaterThan(numRuns / 5);
}

/** The text of a cell as in an event: the plain decimal of a number that is not an integer, otherwise unchanged. */
export function plainText(text: string, type: string): string {
  if (!/DOUBLE|FLOAT|DECIMAL/i.test(type) || !/^[-+\d.e]+$/.test(text)) return text;
  const number = new Decimal(text);
  return number.isZero() ? "0" : number.toFixed();
}
