/** Usage of events in a ClickHouse table, for an engine (S17.4). */
import { type Day, instantOfDay } from "../../calendar/instant.ts";
import { checkEventFileMap, type EventFileMap, listMappedColumns } from "../../event-files/event-file-map.ts";
import { mergeEvents } from "../../event-files/merge-events.ts";
import type { CellQuery, UsageSource } from "../../ledger/external-usage.ts";
import type { UsageCell } from "../../metering/usage.ts";
import { isPlainText } from "../pushdown/term.ts";
import {
  type MappedRows,
  openDatabaseCursors,
  EARLIER_ROWS,
  findFirstIdDay,
  REQUESTED_ROWS,
  startUsageRequest,
} from "../reading/database-cursors.ts";
import { type Source, toSourceColumn, usageChangedError } from "../source.ts";
import { toIdHashSql } from "../sql/classified-rows.ts";
import { type Database, toTextListSql } from "../sql/expressions.ts";
import { clickHouseSql, createRowCondition, quoteClickhouseText } from "./clickhouse-sql.ts";
import { bindTableParts, listNeededColumns, requireTableNames, type TablePart } from "./mapped-tables.ts";
import {
  type ClickHouse,
  createClickHouseDatabase,
  countRows,
  readAllRows,
  readPartsStamp,
  readTableColumns,
  type TableColumns,
  type TableName,
} from "./table.ts";

/** A table of events and its columns. */
export interface ClickHouseUsageOptions {
  /** A table or view. */
  readonly table: string;
  /** Default: the client's database. */
  readonly database?: string | undefined;
  /**
   * The columns of each part of an event, like an event file map. Default: columns named `schemaName`, `id`,
   * `accountId`, `timestamp` and like the attributes and dimensions of each schema.
   */
  readonly columns?: EventColumns | undefined;
  /** Whether ids are unique within an account. If true, duplicates are not detected and count twice. Default false. */
  readonly hasUniqueIds?: boolean | undefined;
}

/**
 * Creates a usage source for a ClickHouse table. The server sums rows if the core would provably count the same; all
 * others are metered by the core (S17.3). Nothing is cached between requests.
 *
 * The first row with an id counts, as long as S14.1 remembers the id. Ids are per account.
 *
 * @param client of `@clickhouse/client`; the caller closes it, and its `request_timeout` applies to each statement
 * @throws {RatebookError} ERR_INPUT_INVALID for invalid columns. `cells` throws ERR_USAGE_UNAVAILABLE, also if the
 * user's settings omit rows, and if requested rows change during three attempts
 */
export function clickhouseUsage(client: ClickHouse, options: ClickHouseUsageOptions): UsageSource {
  const { table, database, columns, hasUniqueIds = false } = options;
  const map = columns === undefined ? undefined : checkEventFileMap("columns", columns);
  return createTableUsage({ client, table, database, map, dedupes: !hasUniqueIds });
}

/**
 * The source of a text: a column, one value for all rows, or a template with columns in braces, such as
 * `"{region}-{n}"`.
 */
export type ColumnOrigin =
  | { readonly column: string }
  | { readonly value: string | number }
  | { readonly template: string };

/** The columns of events. */
export interface EventColumns {
  readonly schemaName: ColumnOrigin;
  readonly id: ColumnOrigin;
  /** An account id or alias. */
  readonly accountId: ColumnOrigin;
  /**
   * A column of instants; of texts, with the `zone` for those without one, an offset such as `"+05:30"`; or of whole numbers with
   * their `form`.
   */
  readonly timestamp: ColumnOrigin & {
    readonly form?: "seconds" | "milliseconds" | undefined;
    readonly zone?: string | undefined;
  };
  /** By attribute name. */
  readonly attributes?: Readonly<Record<string, ColumnOrigin>> | undefined;
  /** By dimension name. */
  readonly dimensions?: Readonly<Record<string, ColumnOrigin>> | undefined;
}

/**
 * Creates a usage source for a table with a parsed map; see `clickhouseUsage`.
 * @throws {RatebookError} ERR_INPUT_INVALID for a map with row numbers, or with other names of schemas or accounts
 */
export function createTableUsage(events: ClickHouseEvents): UsageSource {
  const { table, database, dedupes, map } = events;
  if (map !== undefined) requireTableNames(map, table);
  const columnNames = listNeededColumns(map, table);
  const tableLabel = `the table ${database === undefined ? "" : `${database}.`}${table} of ClickHouse`;
  return {
    name: dedupes ? tableLabel : `${tableLabel}, without checking for repeated ids`,
    cells: (query) => readCells(events, columnNames, query),
  };
}

/** A table of events and how to read it. */
interface ClickHouseEvents {
  readonly client: ClickHouse;
  readonly table: string;
  readonly database: string | undefined;
  readonly map: EventFileMap | undefined;
  readonly dedupes: boolean;
}

/** The maximum number of attempts if requested rows are added or removed during reading. */
const ATTEMPTS_MAX = 3;

async function* readCells(
  table: ClickHouseEvents,
  columnNames: readonly string[],
  query: CellQuery,
): AsyncIterable<readonly UsageCell[]> {
  const db = createClickHouseDatabase(table.client);
  const name = { database: table.database ?? (await readDatabaseName(db)), table: table.table };
  const tableColumns = await readTableColumns(db, name, columnNames);
  const tableParts = bindTableParts(table, tableColumns, query);
  if (tableParts.length === 0) return;
  for (let attempt = 1; ; attempt++) {
    const reading = { table, query, tableColumns, parts: tableParts, comparesContents: attempt > 1 };
    const cells = await tryReadCells(db, name, reading);
    if (cells !== undefined) return yield* cells;
    if (attempt < ATTEMPTS_MAX) continue;
    const message = `the table ${name.database}.${name.table} changed while it was being read: matching rows were added or removed`;
    throw usageChangedError(message);
  }
}

async function readDatabaseName(db: Database): Promise<string> {
  const [[name] = []] = await readAllRows(db, "select currentDatabase()");
  return String(name);
}

interface TableRequest {
  readonly table: ClickHouseEvents;
  readonly query: CellQuery;
  readonly tableColumns: TableColumns;
  readonly parts: readonly TablePart[];
  /** Whether row contents are compared before and after reading, because rows are written all the time. */
  readonly comparesContents: boolean;
}

/** Reads once. @returns undefined if rows were added or removed meanwhile */
async function tryReadCells(
  db: Database,
  name: TableName,
  reading: TableRequest,
): Promise<Iterable<readonly UsageCell[]> | undefined> {
  const { table, query } = reading;
  const names = query.accounts.flatMap(({ id, aliases }) => [id, ...aliases]).filter(isPlainText);
  const namedDb = createClickHouseDatabase(
    table.client,
    `with ${NAMES} as (${await db.selectTexts([...new Set(names)])}) `,
  );
  const stampBefore = await readPartsStamp(db, name);
  const comparesContents = reading.comparesContents || stampBefore === undefined;
  const rows = createRowsBetween(
    reading,
    names.some((each) => each.includes("\uFFFD")),
  );
  const requestedRows = rows(instantOfDay(query.from), Math.min(instantOfDay(query.until), query.upTo + 1));
  const contents = comparesContents ? await readContents(namedDb, reading, requestedRows) : "";
  try {
    const cells = await meterRows(namedDb, reading, rows, requestedRows);
    if (stampBefore !== undefined && (await readPartsStamp(db, name)) === stampBefore) return cells;
    return comparesContents && (await readContents(namedDb, reading, requestedRows)) === contents ? cells : undefined;
  } catch (error) {
    if (stampBefore !== undefined && (await readPartsStamp(db, name)) === stampBefore) throw error;
    // An unavailable server shows no parts either.
    if ((await readContents(namedDb, reading, requestedRows).catch(() => contents)) === contents && comparesContents)
      throw error;
    return undefined;
  }
}

/** The common table expression with the requested account names. */
const NAMES = "ratebook_names";

/** The rows `[from, until)` of each part of the table. */
type RowsBetween = (from: number, until: number, condition?: (source: Source) => string) => readonly string[];

function createRowsBetween({ tableColumns, parts }: TableRequest, hasReplacementCharacters: boolean): RowsBetween {
  const names = `select name from ${NAMES}`;
  return (from, until, condition) =>
    parts.map(({ source, schemas, map }) => {
      const ownCondition = createRowCondition(source, { schemas, names, hasReplacementCharacters, from, until });
      const rowCondition = condition === undefined ? ownCondition : `${ownCondition} and ${condition(source)}`;
      return tableColumns.from({ condition: rowCondition, columns: listMappedColumns(map) });
    });
}

/** The number of rows and a checksum of their contents. */
async function readContents(
  db: Database,
  { tableColumns, parts }: TableRequest,
  requestedRows: readonly string[],
): Promise<string> {
  const contents = await Promise.all(
    parts.map(async ({ map }, index) => {
      const columns = listMappedColumns(map).map((column) => toSourceColumn(tableColumns.columns, column));
      const sum = `toString(sum(cityHash64(${toTextListSql(columns, clickHouseSql)})))`;
      return readAllRows(db, `select toString(count()), ${sum} from ${requestedRows[index]}`);
    }),
  );
  return JSON.stringify(contents);
}

async function meterRows(
  db: Database,
  reading: TableRequest,
  rows: RowsBetween,
  requestedRows: readonly string[],
): Promise<Iterable<readonly UsageCell[]>> {
  const { query, table, parts } = reading;
  const accounts = startUsageRequest(query, table.dedupes);
  const repeatedIdsSql = table.dedupes
    ? await db.materialize(selectRepeatedIds(reading, rows, requestedRows))
    : undefined;
  const earlierRows = repeatedIdsSql === undefined ? [] : await findEarlierRows(db, reading, rows, repeatedIdsSql);
  const inputs: MappedRows[] = [];
  for (const [file, froms] of [
    [REQUESTED_ROWS, requestedRows],
    [EARLIER_ROWS, earlierRows],
  ] as const) {
    for (const [place, from] of froms.entries()) {
      const { map } = parts[place] ?? {};
      if (map === undefined) continue;
      inputs.push({
        databaseRows: {
          from,
          columns: reading.tableColumns.columns,
          rowCount: await countRows(db, from),
          fileExpression: quoteClickhouseText(file),
          checkUnchanged: async () => undefined,
        },
        map,
        mapFile: "columns",
        isDecidedByCore: file === EARLIER_ROWS,
      });
    }
  }
  const dbWithoutClose = { ...db, close: async () => undefined };
  const { book, sink } = accounts;
  const cursors = await openDatabaseCursors(dbWithoutClose, inputs, sink, {
    book,
    usesPushdown: true,
    keepsValues: true,
    dedupes: table.dedupes,
    knownRepeats: { repeatedIdsSql },
  });
  await mergeEvents(cursors, { onDisorder: () => undefined });
  return accounts.iterateCells();
}

/**
 * Selects the hashes of ids that occur in the requested rows and again there, or earlier where S14.1 may still remember
 * them.
 */
function selectRepeatedIds(
  { query, parts }: TableRequest,
  rows: RowsBetween,
  requestedRows: readonly string[],
): string {
  const first = findFirstIdDay(query, query.from);
  const earlierRows = rows(instantOfDay(first), instantOfDay(query.from));
  const hashes = parts.flatMap(({ source }, place) => {
    const hash = toIdHashSql(source, clickHouseSql);
    return [
      `select ${hash} as id_hash, 1 as is_requested from ${requestedRows[place]}`,
      `select ${hash} as id_hash, 0 as is_requested from ${earlierRows[place]}`,
    ];
  });
  return `select id_hash from (${hashes.join(" union all ")}) group by id_hash having count(*) > 1 and max(is_requested) = 1`;
}

/** Selects earlier rows with repeated ids, from the first row whose id may still be remembered. */
async function findEarlierRows(
  db: Database,
  { query, parts }: TableRequest,
  rows: RowsBetween,
  repeatedIdsSql: string,
): Promise<readonly string[]> {
  const rowsWithRepeatedIds = (from: Day, until: Day): readonly string[] =>
    rows(
      instantOfDay(from),
      instantOfDay(until),
      (source) => `${toIdHashSql(source, clickHouseSql)} global in (${repeatedIdsSql})`,
    );
  // A time that combines several columns has no bounds to limit the rows by.
  if (!parts.every(({ source }) => "column" in source.timestamp.part)) return rowsWithRepeatedIds(0, query.from);
  const haveNoRows = async (froms: readonly string[]): Promise<boolean> => {
    for (const from of froms) if ((await countRows(db, from)) > 0) return false;
    return true;
  };
  let first = findFirstIdDay(query, query.from);
  for (let next = first; next > 0; first = next) {
    next = findFirstIdDay(query, first);
    if (next >= first || (await haveNoRows(rowsWithRepeatedIds(next, first)))) break;
  }
  return rowsWithRepeatedIds(first, query.from);
}
