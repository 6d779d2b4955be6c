/**
 * An in-memory DuckDB instance in this process. It reads files, and spills to a temporary directory that is removed on
 * close.
 *
 * @module
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { DuckDBConnection, DuckDBValue } from "@duckdb/node-api";

import { RatebookError } from "../../errors.ts";
import { type Database, importDriver, type Row, type Value } from "../sql/dialect.ts";
import { duckDbSql, quoteDuckdbText } from "./duckdb-sql.ts";

/** Limits of an instance. */
interface DuckDbLimits {
  /** The memory limit as DuckDB writes it, such as `400MB`. Default 1GB. */
  readonly memory?: string | undefined;
  readonly threads?: number | undefined;
}

/** An open instance. */
export interface DuckDb extends Database {
  /** Runs a statement. @throws {RatebookError} ERR_USAGE_UNAVAILABLE with DuckDB's message */
  readonly execute: (sql: string) => Promise<readonly Row[]>;
  readonly close: () => Promise<void>;
}

const PACKAGE = "@duckdb/node-api";

/** Opens an instance. @throws {RatebookError} ERR_REFUSED if the package is not installed or a limit is invalid */
export async function openDuckDb({ memory = "1GB", threads }: DuckDbLimits = {}): Promise<DuckDb> {
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
      ...(threads === undefined ? [] : [`threads = ${threads}`]),
    ];
    for (const setting of settings) await withUsageErrors(async () => first.run(`set ${setting}`));
    const execute: DuckDb["execute"] = async (sql) =>
      withUsageErrors(async () => (await first.runAndReadAll(sql)).getRows().map((row) => row.map(toPlainValue)));
    return {
      dialect: duckDbSql,
      execute,
      // A connection has one result at a time.
      stream: (sql) => streamRows(connect, sql),
      materialize: createMaterializer(execute),
      selectTexts: createTextLister(execute),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Stores the results of statements in tables. */
function createMaterializer(execute: DuckDb["execute"]): Database["materialize"] {
  let count = 0;
  return async (sql) => {
    const table = `result_${count++}`;
    await execute(`create table ${table} as ${sql}`);
    const [[rows] = []] = await execute(`select count(*) from ${table}`);
    return Number(rows) === 0 ? undefined : `select * from ${table}`;
  };
}

/** The number of texts per INSERT. */
const INSERT_BATCH_SIZE = 1000;

/** Stores texts in tables. */
function createTextLister(execute: DuckDb["execute"]): Database["selectTexts"] {
  let count = 0;
  return async (texts) => {
    const table = `texts_${count++}`;
    await execute(`create table ${table} (name VARCHAR)`);
    for (let at = 0; at < texts.length; at += INSERT_BATCH_SIZE) {
      const values = texts.slice(at, at + INSERT_BATCH_SIZE).map((text) => `(${quoteDuckdbText(text)})`);
      await execute(`insert into ${table} values ${values.join(", ")}`);
    }
    return `select name from ${table}`;
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
