/**
 * A question for usage, asked of a table of ClickHouse (S17.4).
 *
 * @module
 */
import { DAY_MS, type Day } from "../../calendar/instant.ts";
import { RatebookError } from "../../errors.ts";
import type { CellQuery, UsageSource } from "../../ledger/usage-source.ts";
import type { UsageCell } from "../../metering/usage.ts";
import type { CsvMap } from "../../records/csv-map.ts";
import { takeAll } from "../../records/event-cursor.ts";
import { isPlainText } from "../pushing/inferred.ts";
import { ASKED, askedAccounts, EARLIER, idsHeldFrom } from "../reading/asked-accounts.ts";
import { type MappedRows, openDatabaseCursors } from "../reading/database-cursors.ts";
import { columnIn, columnsNamedBy } from "../reading/mapped-source.ts";
import type { Source } from "../source.ts";
import type { Database } from "../statements/dialect.ts";
import { sqlOfIdHash } from "../statements/judged-rows.ts";
import { sqlOfTexts } from "../statements/parts.ts";
import { askedParts, type TablePart } from "./asked-parts.ts";
import { conditionOfRows } from "./asked-rows.ts";
import { clickHouseSql, quotedText } from "./clickhouse-sql.ts";
import { type ClickHouse, clickHouseDatabase } from "./connect.ts";
import { columnsNeeded } from "./mapped-tables.ts";
import { all, columnsOfTable, countOf, partsOfTable, type TableColumns, type TableName } from "./table.ts";

/** A source over a table with a map that was read; see `clickhouseUsage`. @throws {RatebookError} ERR_INPUT_INVALID for a map of rows' numbers */
export function usageOfTable(events: EventTable): UsageSource {
  const { table, database, dedupes, map } = events;
  const needed = columnsNeeded(map, table);
  const place = `the table ${database === undefined ? "" : `${database}.`}${table} of ClickHouse`;
  return {
    name: dedupes ? place : `${place}, whose ids are said to be unique`,
    cells: (query) => cellsIn(events, needed, query),
  };
}

/** Where events are, and how they are read. */
export interface EventTable {
  readonly client: ClickHouse;
  readonly table: string;
  readonly database: string | undefined;
  readonly map: CsvMap | undefined;
  readonly dedupes: boolean;
}

/** How often a question is tried, where rows that it asks for come or go meanwhile. */
const TRIES_MAX = 3;

async function* cellsIn(
  table: EventTable,
  needed: readonly string[],
  query: CellQuery,
): AsyncIterable<readonly UsageCell[]> {
  const db = clickHouseDatabase(table.client);
  const name = { database: table.database ?? (await databaseOf(db)), table: table.table };
  const opened = await columnsOfTable(db, name, needed);
  const tableParts = askedParts(table, opened, query);
  if (tableParts.length === 0) return;
  for (let tried = 1; ; tried++) {
    const reading = { table, query, opened, parts: tableParts, isWatched: tried > 1 };
    const found = await cellsOnce(db, name, reading);
    if (found !== undefined) return yield* found;
    if (tried < TRIES_MAX) continue;
    const message = `the table ${name.database}.${name.table} changed while it was read: rows that were asked for came or went`;
    throw new RatebookError("ERR_USAGE_UNAVAILABLE", message, {});
  }
}

async function databaseOf(db: Database): Promise<string> {
  const [[name] = []] = await all(db, "select currentDatabase()");
  return String(name);
}

interface Reading {
  readonly table: EventTable;
  readonly query: CellQuery;
  readonly opened: TableColumns;
  readonly parts: readonly TablePart[];
  /** Whether what the rows hold is looked at before and after, since rows are written all the time. */
  readonly isWatched: boolean;
}

/** Reads once. @returns undefined where rows came or went meanwhile */
async function cellsOnce(
  db: Database,
  name: TableName,
  reading: Reading,
): Promise<Iterable<readonly UsageCell[]> | undefined> {
  const { table, query } = reading;
  const names = query.accounts.flatMap(({ id, aliases }) => [id, ...aliases]).filter(isPlainText);
  const asking = clickHouseDatabase(table.client, `with ${NAMES} as (${await db.listed([...new Set(names)])}) `);
  const before = await partsOfTable(db, name);
  const isWatched = reading.isWatched || before === undefined;
  const rows = rowsOf(
    reading,
    names.some((each) => each.includes("\uFFFD")),
  );
  const asked = rows(query.from * DAY_MS, Math.min(query.until * DAY_MS, query.upTo + 1));
  const contents = isWatched ? await contentsOf(asking, reading, asked) : "";
  try {
    const cells = await metered(asking, reading, rows, asked);
    if (before !== undefined && (await partsOfTable(db, name)) === before) return cells;
    return isWatched && (await contentsOf(asking, reading, asked)) === contents ? cells : undefined;
  } catch (error) {
    if (before !== undefined && (await partsOfTable(db, name)) === before) throw error;
    // A server that is away shows no parts either.
    if ((await contentsOf(asking, reading, asked).catch(() => contents)) === contents && isWatched) throw error;
    return undefined;
  }
}

/** The name of a statement that every other one may read: the names of the accounts that are asked for. */
const NAMES = "ratebook_names";

/** What a statement reads of each part of the table for rows of `[from, until)`. */
type RowsBetween = (from: number, until: number, condition?: (source: Source) => string) => readonly string[];

function rowsOf({ opened, parts }: Reading, isReplaced: boolean): RowsBetween {
  const names = `select name from ${NAMES}`;
  return (from, until, condition) =>
    parts.map(({ source, schemas, map }) => {
      const own = conditionOfRows(source, { schemas, names, isReplaced, from, until });
      const both = condition === undefined ? own : `${own} and ${condition(source)}`;
      return opened.from({ condition: both, columns: columnsNamedBy(map) });
    });
}

/** How many rows there are, and a sum over all that they hold. */
async function contentsOf(db: Database, { opened, parts }: Reading, asked: readonly string[]): Promise<string> {
  const found = await Promise.all(
    parts.map(async ({ map }, place) => {
      const columns = columnsNamedBy(map).map((column) => columnIn(opened.columns, column));
      const sum = `toString(sum(cityHash64(${sqlOfTexts(columns, clickHouseSql)})))`;
      return all(db, `select toString(count()), ${sum} from ${asked[place]}`);
    }),
  );
  return JSON.stringify(found);
}

async function metered(
  db: Database,
  reading: Reading,
  rows: RowsBetween,
  asked: readonly string[],
): Promise<Iterable<readonly UsageCell[]>> {
  const { query, table, parts } = reading;
  const accounts = askedAccounts(query, table.dedupes);
  const repeated = table.dedupes ? await db.keep(repeatedIds(reading, rows, asked)) : undefined;
  const earlier = repeated === undefined ? [] : await earlierRows(db, reading, rows, repeated);
  const inputs: MappedRows[] = [];
  for (const [file, froms] of [
    [ASKED, asked],
    [EARLIER, earlier],
  ] as const) {
    for (const [place, from] of froms.entries()) {
      const { map } = parts[place] ?? {};
      if (map === undefined) continue;
      const found = { from, columns: reading.opened.columns, rows: await countOf(db, from), file: quotedText(file) };
      inputs.push({
        found: { ...found, checkUnchanged: async () => undefined },
        map,
        mapFile: "columns",
        isOfCore: file === EARLIER,
      });
    }
  }
  const own = { ...db, close: async () => undefined };
  const { book, sink } = accounts;
  const cursors = await openDatabaseCursors(own, inputs, sink, {
    book,
    isPushing: true,
    dedupes: table.dedupes,
    known: { repeated },
  });
  await takeAll(cursors, { onDisorder: () => undefined });
  return accounts.cells();
}

/** The hashes of ids that are among the rows that are asked for, and once more there or where S14.1 may still remember them. */
function repeatedIds({ query, parts }: Reading, rows: RowsBetween, asked: readonly string[]): string {
  const first = idsHeldFrom(query, query.from);
  const before = rows(first * DAY_MS, query.from * DAY_MS);
  const hashes = parts.flatMap(({ source }, place) => {
    const hash = sqlOfIdHash(source, clickHouseSql);
    return [
      `select ${hash} as id_hash, 1 as is_asked from ${asked[place]}`,
      `select ${hash} as id_hash, 0 as is_asked from ${before[place]}`,
    ];
  });
  return `select id_hash from (${hashes.join(" union all ")}) group by id_hash having count(*) > 1 and max(is_asked) = 1`;
}

/** Rows before those that are asked for, of ids that come again: back to where nothing before can hold such an id any more. */
async function earlierRows(
  db: Database,
  { query, parts }: Reading,
  rows: RowsBetween,
  repeated: string,
): Promise<readonly string[]> {
  const among = (from: Day, until: Day): readonly string[] =>
    rows(from * DAY_MS, until * DAY_MS, (source) => `${sqlOfIdHash(source, clickHouseSql)} global in (${repeated})`);
  // A time that is put together of several columns has no bounds by which fewer rows would be read.
  if (!parts.every(({ source }) => "column" in source.timestamp.part)) return among(0, query.from);
  const isEmpty = async (froms: readonly string[]): Promise<boolean> => {
    for (const from of froms) if ((await countOf(db, from)) > 0) return false;
    return true;
  };
  let first = idsHeldFrom(query, query.from);
  for (let next = first; next > 0; first = next) {
    next = idsHeldFrom(query, first);
    if (next >= first || (await isEmpty(among(next, first)))) break;
  }
  return among(first, query.from);
}
