/**
 * An in-memory DuckDB instance in this process, which spills to a temporary directory that is removed on close; and
 * Parquet files as a source: their columns, whether they match, and a check that they don't change while they are read
 * (S17.5).
 */
import { stat, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { DuckDBConnection, DuckDBValue } from "@duckdb/node-api";

import { RatebookError } from "../../errors.ts";
import { createMarkCheck, NUMBER_PATTERNS } from "../../event-files/cell-texts.ts";
import { type EventFileMap, listMappedColumns } from "../../event-files/event-file-map.ts";
import type { EventSink, EventCursor } from "../../event-files/merge-events.ts";
import {
  type DatabaseReadOptions,
  type DatabaseRows,
  type MappedRows,
  openDatabaseCursors,
} from "../reading/database-cursors.ts";
import { checkColumns, type ColumnType, invalidTableError, usageChangedError } from "../source.ts";
import { type Database, importDriver, type Row, type Value } from "../sql/expressions.ts";
import { quoteDuckdbName, quoteDuckdbText, duckDbSql } from "./duckdb-sql.ts";

/** The column with a row's file name. */
const FILE_COLUMN = "ratebook_file";

/** Type names of lists and objects. */
const NESTED_TYPES = /[[(]|^(?:STRUCT|MAP|BLOB|JSON|UNION|VARIANT)/;

/**
 * Reads the footers of files.
 *
 * @param patterns paths, `*` allowed, and other sources that DuckDB reads, such as `s3://…`
 * @param columnNames the columns to read, which must have the same type in all files
 * @throws {RatebookError} ERR_USAGE_UNAVAILABLE if one can't be read; ERR_INPUT_INVALID for a column that is missing,
 * has different types, or contains lists or objects
 */
async function openParquetFiles(
  db: DuckDb,
  patterns: readonly string[],
  columnNames: readonly string[],
): Promise<DatabaseRows> {
  const list = `[${patterns.map(quoteDuckdbText).join(", ")}]`;
  const rowCounts = await db.execute(
    `select file_name, sum(num_rows)::DOUBLE from parquet_file_metadata(${list}) group by 1 order by 1`,
  );
  const names = rowCounts.map(([name]) => String(name));
  const [first = ""] = names;
  const stamps = await readFileStamps(names);
  const columns = await readColumns(db, first);
  const expects = "the map uses the column";
  checkColumns(columnNames, columns, { name: first, expects, kind: "file", nestedTypes: NESTED_TYPES });
  await checkShapes(db, list, columnNames);
  return {
    from: `read_parquet(${list}, filename = ${quoteDuckdbText(FILE_COLUMN)}, file_row_number = true)`,
    columns,
    fileExpression: quoteDuckdbName(FILE_COLUMN),
    rowCount: rowCounts.reduce((sum, [, rows]) => sum + Number(rows), 0),
    checkUnchanged: async () => {
      const now = await readFileStamps(names);
      const changedFile = names.find((_, place) => stamps[place] !== now[place]);
      if (changedFile === undefined) return;
      throw usageChangedError(`${changedFile} changed while it was being read, so nothing was priced`);
    },
  };
}

/** Stamps that change when a file is written; undefined for other sources. */
async function readFileStamps(names: readonly string[]): Promise<readonly (string | undefined)[]> {
  return Promise.all(
    names.map(async (name) => {
      const stats = await stat(name, { bigint: true }).catch(() => undefined);
      return stats === undefined ? undefined : `${stats.size} ${stats.mtimeNs} ${stats.ino}`;
    }),
  );
}

async function readColumns(db: DuckDb, file: string): Promise<ReadonlyMap<string, ColumnType>> {
  const rows = await db.execute(`describe select * from read_parquet(${quoteDuckdbText(file)})`);
  return new Map(rows.map(([name, type]) => [String(name), parseDuckDbType(String(type))]));
}

/** The column type of a DuckDB type name. */
function parseDuckDbType(name: string): ColumnType {
  const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(name) ?? [];
  if (precision !== undefined) return { type: "decimal", precision: Number(precision), scale: Number(scale) };
  if (/^U?(?:TINYINT|SMALLINT|INTEGER|BIGINT)$/.test(name)) return { type: "integer" };
  if (name === "TIMESTAMP WITH TIME ZONE") return { type: "timestamp", isZoned: true };
  if (/^TIMESTAMP(?:_S|_MS|_NS)?$/.test(name)) return { type: "timestamp", isZoned: false };
  if (name === "VARCHAR") return { type: "text" };
  if (name === "DOUBLE") return { type: "double" };
  if (name === "FLOAT") return { type: "float" };
  return { type: "other", name };
}

/** Checks that every file has the columns of the first. */
async function checkShapes(db: DuckDb, list: string, columnNames: readonly string[]): Promise<void> {
  const names = columnNames.map(quoteDuckdbText).join(", ");
  if (names === "") return;
  const shapes = await db.execute(
    `select name, count(distinct file_name), count(distinct (type, logical_type, converted_type, "precision", scale)), ` +
      `(select count(distinct file_name) from parquet_schema(${list})), arg_min(file_name, file_name), max(file_name) ` +
      `from parquet_schema(${list}) where name in (${names}) group by name order by name`,
  );
  for (const [name, files, types, all] of shapes) {
    const column = JSON.stringify(String(name));
    if (Number(files) !== Number(all))
      throw invalidTableError(
        `the column ${column} is missing in some of the files; read files with different columns separately`,
      );
    if (Number(types) > 1)
      throw invalidTableError(
        `the column ${column} has different types in these files; read files with different types separately`,
      );
  }
}

/**
 * Checks the numbers of text columns whose decimal mark the map doesn't set, by one number of each kind and file.
 *
 * @throws {InputError} for a column that can't be read, as for CSV
 */
async function checkDecimalMarks(db: DuckDb, { from, columns }: DatabaseRows, map: EventFileMap): Promise<void> {
  for (const origin of Object.values(map.attributes)) {
    if (!("column" in origin) || origin.decimal !== undefined) continue;
    if (columns.get(origin.column)?.type !== "text") continue;
    const name = quoteDuckdbName(origin.column);
    const [withComma, withPoint] = [NUMBER_PATTERNS[","], NUMBER_PATTERNS["."]].map((pattern) =>
      duckDbSql.matchesPattern(name, pattern),
    );
    const isUnnamed = Object.keys(origin.values ?? {}).map((text) => ` and ${name} <> ${quoteDuckdbText(text)}`);
    const examples = await db.execute(
      `select ${quoteDuckdbName(FILE_COLUMN)}, min(${name}) filter (${withComma} and not ${withPoint}), ` +
        `min(${name}) filter (${withPoint} and not ${withComma}), min(${name}) filter (${withComma} and ${withPoint}) ` +
        `from ${from} where (contains(${name}, '.') or contains(${name}, ','))${isUnnamed.join("")} group by 1 order by 1`,
    );
    for (const [file, ...texts] of examples) {
      const check = createMarkCheck(String(file));
      const watch = check.watchColumn(origin.column);
      for (const text of texts) watch(String(text));
      check.end();
    }
  }
}

/** Files with the same map, in order. */
export interface ParquetInput {
  readonly paths: readonly string[];
  readonly map: EventFileMap;
  /** The map's file name, for messages. */
  readonly mapFile: string;
}

/** Options for Parquet files. */
export interface ParquetReadOptions extends DatabaseReadOptions {
  /** The memory limit of DuckDB. */
  readonly memory: string | undefined;
}

/**
 * Opens files.
 *
 * @param openDatabase opens the database
 * @throws {RatebookError} ERR_USAGE_UNAVAILABLE or ERR_INPUT_INVALID if they can't be read
 */
export async function openParquet(
  inputs: readonly ParquetInput[],
  sink: EventSink,
  reading: ParquetReadOptions,
  openDatabase: typeof openDuckDb = openDuckDb,
): Promise<readonly EventCursor[]> {
  const db = await openDatabase({ memory: reading.memory });
  async function* openRows(): AsyncIterable<MappedRows> {
    for (const { paths, map, mapFile } of inputs) {
      const databaseRows = await openParquetFiles(db, paths, listMappedColumns(map));
      await checkDecimalMarks(db, databaseRows, map);
      yield { databaseRows, map, mapFile };
    }
  }
  return openDatabaseCursors(db, openRows(), sink, reading);
}

/** An open instance. */
export interface DuckDb extends Database {
  /** Runs a statement. @throws {RatebookError} ERR_USAGE_UNAVAILABLE with DuckDB's message */
  readonly execute: (sql: string) => Promise<readonly Row[]>;
  readonly close: () => Promise<void>;
}

const PACKAGE = "@duckdb/node-api";

/**
 * Opens an instance.
 *
 * @param limits the memory limit as DuckDB writes it, such as `400MB`; default 1GB
 * @throws {RatebookError} ERR_USAGE_UNAVAILABLE if the package is not installed or a limit is invalid
 */
export async function openDuckDb({ memory = "1GB" }: { readonly memory?: string | undefined } = {}): Promise<DuckDb> {
  const { DuckDBInstance } = await importDriver(PACKAGE, "Parquet files", async () => import("@duckdb/node-api"));
  const folder = await mkdtemp(join(tmpdir(), "ratebook-"));
  const instance = await DuckDBInstance.create(":memory:");
  const connections: DuckDBConnection[] = [];
  const connect = async (): Promise<DuckDBConnection> => {
    const connection = await instance.connect();
    connections.push(connection);
    return connection;
  };
  const close = async (): Promise<void> => {
    for (const connection of connections) connection.closeSync();
    instance.closeSync();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const first = await connect();
    const settings = [
      `memory_limit = ${quoteDuckdbText(memory)}`,
      `temp_directory = ${quoteDuckdbText(folder)}`,
      "preserve_insertion_order = false",
      // Times are computed in UTC microseconds. The zone is set so that the host's can't matter.
      "TimeZone = 'UTC'",
    ];
    for (const setting of settings) await withUsageErrors(async () => first.run(`set ${setting}`));
    const execute: DuckDb["execute"] = async (sql) =>
      withUsageErrors(async () => (await first.runAndReadAll(sql)).getRows().map((row) => row.map(toPlainValue)));
    return {
      dialect: duckDbSql,
      execute,
      // A connection has one result at a time.
      stream: (sql) => streamRows(connect, sql),
      ...createTableStore(execute),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Stores the results of statements, and texts, in tables. */
function createTableStore(execute: DuckDb["execute"]): Pick<Database, "materialize" | "selectTexts"> {
  let count = 0;
  return {
    materialize: async (sql) => {
      const table = `result_${count++}`;
      await execute(`create table ${table} as ${sql}`);
      const [[rows] = []] = await execute(`select count(*) from ${table}`);
      return Number(rows) === 0 ? undefined : `select * from ${table}`;
    },
    // One JSON text is read ten times as fast as a list of literals.
    selectTexts: async (texts) => {
      const table = `texts_${count++}`;
      const list = quoteDuckdbText(JSON.stringify(texts));
      await execute(`create table ${table} as select unnest(from_json(${list}, '["VARCHAR"]')) as name`);
      return `select name from ${table}`;
    },
  };
}

/** Converts a DuckDB value to the common type. */
function toPlainValue(value: DuckDBValue): Value {
  if (value === null || typeof value === "number" || typeof value === "bigint" || typeof value === "string")
    return value;
  return typeof value === "object" && "items" in value && Array.isArray(value.items)
    ? value.items.map(String)
    : String(value);
}

async function* streamRows(connect: () => Promise<DuckDBConnection>, sql: string): AsyncIterable<readonly Row[]> {
  const result = await withUsageErrors(async () => (await connect()).stream(sql));
  for (;;) {
    const chunk = await withUsageErrors(async () => result.fetchChunk());
    if (chunk === null || chunk.rowCount === 0) return;
    yield chunk.getRows().map((row) => row.map(toPlainValue));
  }
}

/** Converts errors, with the first line of DuckDB's message. */
async function withUsageErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RatebookError || !(error instanceof Error)) throw error;
    const [line = ""] = error.message.split("\n");
    throw new RatebookError("ERR_USAGE_UNAVAILABLE", `DuckDB cannot read the usage: ${line}`, {}, { cause: error });
  }
}
