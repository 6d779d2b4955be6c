/**
 * Cursors over the rows of a database: one over sums of plain rows, one over all other rows, which the core meters
 * individually, also for the requested accounts of a usage request (S17.2, S17.3).
 */

import type { Account, Customer } from "../../book/resources/account.ts";
import type { Book } from "../../book/resources/book.ts";
import { tryParseInstant, instantOfDay, type Day, type Instant } from "../../calendar/instant.ts";
import { invariant } from "../../errors.ts";
import {
  type EventFileMap,
  type EventMaker,
  createEventMaker,
  listMappedColumns,
} from "../../event-files/event-file-map.ts";
import type { EventSink, EventCursor } from "../../event-files/merge-events.ts";
import type { CellQuery } from "../../ledger/external-usage.ts";
import { rememberIds, type SeenIds } from "../../ledger/preview/accepted-ids.ts";
import { startEventRun } from "../../ledger/preview/preview-run.ts";
import type { UsageCell } from "../../metering/usage.ts";
import { exactOfText, formatExact } from "../../numbers/exact.ts";
import { planPushdown, createTextRange } from "../pushdown/plan-pushdown.ts";
import { bindSource, type ColumnType, computePartRange, explainNotPushable, toSourceColumn } from "../source.ts";
import type { Database } from "../sql/expressions.ts";
import { type Metering, meterSources, type PlainGroup, type SourceRow } from "../sql/meter-sources.ts";
import type { MeteredSource } from "../sql/metering-statements.ts";
import { listAccountNames } from "../sql/standalone.ts";

/** Options for reading a database. */
export interface DatabaseReadOptions {
  readonly book: Pick<Book, "eventSchemas" | "usageMeters" | "accounts">;
  /** Whether the database sums plain rows. If false, the core meters every row. */
  readonly usesPushdown: boolean;
  /** Whether every value of events is needed, as for usage that is stored; default only those that decide a quantity. */
  readonly keepsValues?: boolean;
  /** Whether ids are remembered (S14.1). */
  readonly dedupes: boolean;
  /** The hashes of repeated ids, if already known: a statement, or undefined if there are none. */
  readonly knownRepeats?: { readonly repeatedIdsSql: string | undefined };
}

/** Rows of a database and their column types. */
export interface DatabaseRows {
  /** The FROM clause. */
  readonly from: string;
  /** Column types by name. */
  readonly columns: ReadonlyMap<string, ColumnType>;
  readonly rowCount: number;
  /** An expression for the file or table name of a row. */
  readonly fileExpression: string;
  /** @throws {RatebookError} ERR_USAGE_UNAVAILABLE if the rows have changed since they were opened */
  readonly checkUnchanged: () => Promise<void>;
}

/** Rows of a database with the map of their columns. */
export interface MappedRows {
  readonly databaseRows: DatabaseRows;
  readonly map: EventFileMap;
  /** The map's file name, for messages. */
  readonly mapFile: string;
  /** Whether the core meters all of these rows, even with pushdown. */
  readonly isDecidedByCore?: boolean;
}

/**
 * Opens cursors over rows of a database. They are its only readers and close it, as does an error.
 *
 * @throws {RatebookError} ERR_USAGE_UNAVAILABLE or ERR_INPUT_INVALID if they can't be read
 */
export async function openDatabaseCursors(
  db: Database & { readonly close: () => Promise<void> },
  rows: AsyncIterable<MappedRows> | Iterable<MappedRows>,
  sink: EventSink,
  options: DatabaseReadOptions,
): Promise<readonly EventCursor[]> {
  try {
    const inputs: MappedRows[] = [];
    for await (const input of rows) inputs.push(input);
    return await openCursors(db, inputs, sink, options);
  } catch (error) {
    await db.close();
    throw error;
  }
}

async function openCursors(
  db: Parameters<typeof openDatabaseCursors>[0],
  inputs: readonly MappedRows[],
  sink: EventSink,
  options: DatabaseReadOptions,
): Promise<readonly EventCursor[]> {
  const { book, usesPushdown, dedupes, knownRepeats } = options;
  const boundSources = inputs.map((input) => bindRows(input, usesPushdown && input.isDecidedByCore !== true, options));
  const sources = boundSources.map(({ meteredSource }) => meteredSource);
  const activeNames = new Map(listAccountNames(book));
  const metering = await meterSources(db, sources, {
    dedupes,
    isActiveAccount: (name) => activeNames.has(name),
    knownRepeats,
  });
  const context: CursorContext = {
    metering,
    eventMakers: boundSources.map(({ make }) => make),
    sink,
    isRead: false,
  };
  // The cursor of sums is opened first, and closes the database after checking that nothing changed.
  const close = async (): Promise<void> => {
    try {
      if (context.isRead) for (const { databaseRows } of inputs) await databaseRows.checkUnchanged();
    } finally {
      await db.close();
    }
  };
  return [createCursor(readGroups(context), close), createCursor(readRows(context, metering.rest()), async () => {})];
}

interface CursorContext {
  readonly metering: Metering;
  readonly eventMakers: readonly EventMaker<readonly string[]>[];
  readonly sink: EventSink;
  /** Whether all sums were read. */
  isRead: boolean;
}

function bindRows(
  { databaseRows, map, mapFile }: MappedRows,
  usesPushdown: boolean,
  { book, keepsValues }: Pick<DatabaseReadOptions, "book" | "keepsValues">,
): { readonly meteredSource: MeteredSource; readonly make: EventMaker<readonly string[]> } {
  const { from, columns, fileExpression, rowCount } = databaseRows;
  const columnNames = listMappedColumns(map);
  const source = bindSource(map, { from, columns, name: mapFile });
  const sourceColumns = columnNames.map((column) => toSourceColumn(columns, column));
  const types = sourceColumns.map(({ type }) => type.type);
  const findColumn = (name: string): ((record: readonly string[]) => string) => {
    const index = columnNames.indexOf(name);
    return (record) => record[index] ?? "";
  };
  const makeEvent = createEventMaker<readonly string[]>(map, findColumn, { eventSchemas: book.eventSchemas });
  const plan = usesPushdown
    ? planPushdown(book, {
        ranges: (name, bounds) =>
          computePartRange(source.attributes.get(name), bounds) ?? createTextRange(name, bounds),
        keepsValues,
        explainsUnmetered: true,
      })
    : undefined;
  const pushedSchemas = [...(plan?.schemas.values() ?? [])].filter(
    (pushedSchema) => explainNotPushable(source, pushedSchema) === undefined,
  );
  return {
    meteredSource: { source, pushedSchemas, columns: sourceColumns, fileExpression, rowCount },
    make: (record, row) =>
      makeEvent(
        record.map((text, index) => normalizeNumberText(text, types[index])),
        row,
      ),
  };
}

/**
 * The same text for equal numbers of any column type: a decimal with two places has the text `1.00`, a double `1.0`
 * (S4.1).
 */
function normalizeNumberText(text: string, type: ColumnType["type"] | undefined): string {
  if (text === "" || (type !== "decimal" && type !== "double" && type !== "float")) return text;
  // The text of a double is its shortest one, as in JavaScript.
  const shortestText = type === "double" ? String(Number(text)) : text;
  const exact = exactOfText(shortestText);
  return exact === undefined ? shortestText : formatExact(exact);
}

/** A row or a sum at the head of a cursor. */
type Head = Pick<EventCursor, "file" | "line" | "at" | "take">;

/** A cursor over blocks of rows or sums. */
function createCursor(blocks: AsyncIterable<Iterable<Head>>, close: EventCursor["close"]): EventCursor {
  const reading = blocks[Symbol.asyncIterator]();
  let heads: Iterator<Head> | undefined;
  let head: Head | undefined;
  return {
    get file() {
      return head?.file ?? "";
    },
    get line() {
      return head?.line ?? 0;
    },
    get at() {
      return head?.at;
    },
    advance() {
      const next = heads?.next();
      head = next?.done === false ? next.value : undefined;
      return head !== undefined;
    },
    async fill() {
      const block = await reading.next();
      heads = block.done === true ? undefined : block.value[Symbol.iterator]();
      return block.done !== true;
    },
    take: () => head?.take() ?? true,
    close,
  };
}

/** Rows in arrival order. An event is made when its row is next: a block of them would outlive a collection of garbage. */
async function* readRows(
  { eventMakers, sink }: CursorContext,
  blocks: AsyncIterable<readonly SourceRow[]>,
): AsyncIterable<Iterable<Head>> {
  const toHead = ({ source, file, row: line, at, texts }: SourceRow): Head => {
    const event = eventMakers[source]?.(texts, line) ?? { timestamp: "" };
    const eventAt = "code" in event ? undefined : tryParseInstant(event.timestamp);
    invariant(eventAt === at || "code" in event, "S17.2: the database and the core read the same instant");
    const take = (): boolean => ("code" in event ? sink.onBadLine(file, line, event) : sink.onEvent(file, line, event));
    return { file, line, at, take };
  };
  function* toHeads(rows: readonly SourceRow[]): Iterable<Head> {
    for (const row of rows) yield toHead(row);
  }
  for await (const rows of blocks) yield toHeads(rows);
}

/**
 * Sums of plain rows, each at the start of its day. If the core doesn't accept a sum, its rows follow individually after
 * all sums of the day, with the others of that day.
 */
async function* readGroups(context: CursorContext): AsyncIterable<Iterable<Head>> {
  const { metering, sink } = context;
  const rejectedGroups: PlainGroup[] = [];
  const toHead = (group: PlainGroup): Head => ({
    file: "",
    line: 0,
    at: instantOfDay(group.day),
    take() {
      if (!sink.onSummedEvents(group)) rejectedGroups.push(group);
      return true;
    },
  });
  for await (const groups of metering.groups()) {
    for (let start = 0, end; start < groups.length; start = end) {
      const day = groups[start]?.day;
      if (rejectedGroups.some((group) => group.day !== day))
        yield* readRows(context, metering.rowsOf(rejectedGroups.splice(0)));
      end = groups.findIndex((group, index) => index > start && group.day !== day);
      if (end === -1) end = groups.length;
      // All of them are taken before the next ones are read.
      yield groups.slice(start, end).map(toHead);
    }
  }
  if (rejectedGroups.length > 0) yield* readRows(context, metering.rowsOf(rejectedGroups.splice(0)));
  context.isRead = true;
}

/** The file names of rows of the requested days, and of earlier rows, which are read only for their ids. */
export const [REQUESTED_ROWS, EARLIER_ROWS] = ["requested", "earlier"] as const;

/** A usage request in progress. */
interface UsageRequest {
  /** A book with the requested schemas and accounts. */
  readonly book: Book;
  /** Receives rows whose file is {@link REQUESTED_ROWS} or {@link EARLIER_ROWS}. */
  readonly sink: EventSink;
  /** The cells so far, in the order of the accounts. */
  readonly iterateCells: () => Iterable<readonly UsageCell[]>;
}

/**
 * Starts a request. The first row with an id counts, per account and as long as S14.1 remembers the id, so that the
 * result for an account doesn't depend on which others are requested.
 *
 * @param dedupes whether ids are remembered
 */
export function startUsageRequest(query: CellQuery, dedupes: boolean): UsageRequest {
  const book = createRequestBook(query);
  const acceptedIds = createIdsByAccount(query);
  const run = startEventRun(book, { ids: dedupes ? acceptedIds.ids : undefined });
  const isRowOf = (file: string, at: Instant): boolean =>
    at <= query.upTo && (file === EARLIER_ROWS ? at < instantOfDay(query.from) : at >= instantOfDay(query.from));
  return {
    book,
    sink: {
      onEvent(file, _line, event) {
        const { timestamp, accountId } = event as { readonly timestamp: string; readonly accountId: string };
        const at = tryParseInstant(timestamp);
        const account = run.accounts.findByName(accountId);
        if (at === undefined || account === undefined || !isRowOf(file, at)) return true;
        acceptedIds.selectAccount(account.index);
        run.add(event);
        return true;
      },
      onBadLine: () => true,
      onSummedEvents: (events) => run.addSummed(events),
    },
    *iterateCells() {
      for (const { id } of query.accounts) {
        const cells = [...run.usage.cellsOf(id)].filter(({ day }) => day >= query.from && day < query.until);
        if (cells.length > 0) yield cells;
      }
    },
  };
}

/** The earliest day whose event ids may still be remembered when a later day begins. */
export function findFirstIdDay({ accounts, idHeldUntil }: Pick<CellQuery, "accounts" | "idHeldUntil">, day: Day): Day {
  const at = instantOfDay(day);
  let first = day;
  for (const { id } of accounts) while (first > 0 && idHeldUntil(id, instantOfDay(first) - 1) > at) first--;
  return first;
}

/** Event ids by account. */
function createIdsByAccount({ accounts, idHeldUntil }: CellQuery): {
  readonly ids: SeenIds;
  /** Sets the account of the next event, by index. */
  readonly selectAccount: (index: number) => void;
} {
  const idMemory = rememberIds();
  let index = 0;
  return {
    ids: {
      has: (id, at) => idMemory.has(`${index} ${id}`, at),
      admit: (id, at) => idMemory.admit(`${index} ${id}`, at, idHeldUntil(accounts[index]?.id ?? "", at)),
    },
    selectAccount(next) {
      index = next;
    },
  };
}

/** A book with the requested schemas and accounts, without plans. */
export function createRequestBook({ book, schemas, accounts }: CellQuery): Book {
  const schemaNames = new Set(schemas);
  return {
    ...book,
    // The request only wants usage, so unmetered rows need no explanation.
    eventSchemas: book.eventSchemas
      .filter(({ name }) => schemaNames.has(name))
      .map((schema) => ({ ...schema, allowUnmetered: true })),
    usageMeters: book.usageMeters.filter(({ eventSchemaName }) => schemaNames.has(eventSchemaName)),
    invoiceGroups: [],
    customers: [...new Set(accounts.map(({ customerId }) => customerId))].map((id): Customer => ({
      id,
      name: id,
      status: "ACTIVE",
    })),
    accounts: accounts.map(({ id, aliases, customerId }): Account => ({
      id,
      name: id,
      customerId,
      status: "ACTIVE",
      invoiceCurrency: book.organization.baseCurrency,
      aliases,
      pricePlans: [],
      licenseUpdates: [],
      credits: [],
      featureCredits: [],
    })),
  };
}
