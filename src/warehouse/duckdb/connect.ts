/**
 * DuckDB in this process: an instance in memory that reads files, spills what does not fit into a folder of its own, and is
 * gone with it.
 *
 * @module
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { DuckDBConnection, DuckDBInstance, DuckDBValue } from "@duckdb/node-api";

import { RatebookError } from "../../errors.ts";
import type { Database, Row, Value } from "../sql/dialect.ts";
import { duckDbSql, quoteText } from "./duckdb-sql.ts";

/** How much an instance may take. */
export interface DuckDbLimits {
  /** Memory as DuckDB writes it, such as `400MB`; default 1GB. */
  readonly memory?: string | undefined;
  readonly threads?: number | undefined;
}

/** An open instance. */
export interface DuckDb extends Database {
  /** Runs a statement. @throws {RatebookError} ERR_USAGE_UNAVAILABLE with what DuckDB says */
  readonly execute: (sql: string) => Promise<readonly Row[]>;
  readonly close: () => Promise<void>;
}

const PACKAGE = "@duckdb/node-api";

/** Opens an instance. @throws {RatebookError} ERR_REFUSED where the package is not installed, or a limit is none */
export async function openDuckDb({ memory = "1GB", threads }: DuckDbLimits = {}): Promise<DuckDb> {
  const duckDb = await importDuckDb();
  const folder = await mkdtemp(join(tmpdir(), "ratebook-"));
  const instance = await duckDb.DuckDBInstance.create(":memory:");
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
      `memory_limit = ${quoteText(memory)}`,
      `temp_directory = ${quoteText(folder)}`,
      "preserve_insertion_order = false",
      // Times are computed from microseconds of UTC, whatever the zone of the session; it is set so that no host's zone can matter.
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

/** Tables that hold what statements gave. */
function createMaterializer(execute: DuckDb["execute"]): Database["materialize"] {
  let count = 0;
  return async (sql) => {
    const table = `kept_${count++}`;
    await execute(`create table ${table} as ${sql}`);
    const [[rows] = []] = await execute(`select count(*) from ${table}`);
    return Number(rows) === 0 ? undefined : `select * from ${table}`;
  };
}

/** So many texts are inserted by one statement. */
const INSERT_BATCH_SIZE = 1000;

/** Tables of texts. */
function createTextLister(execute: DuckDb["execute"]): Database["selectTexts"] {
  let count = 0;
  return async (texts) => {
    const table = `listed_${count++}`;
    await execute(`create table ${table} (name VARCHAR)`);
    for (let at = 0; at < texts.length; at += INSERT_BATCH_SIZE) {
      const values = texts.slice(at, at + INSERT_BATCH_SIZE).map((text) => `(${quoteText(text)})`);
      await execute(`insert into ${table} values ${values.join(", ")}`);
    }
    return `select name from ${table}`;
  };
}

/** A value as all databases give it. */
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

/** The first line of what DuckDB says, as an error of ours. */
async function withUsageErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RatebookError || !(error instanceof Error)) throw error;
    const [line = ""] = error.message.split("\n");
    throw new RatebookError("ERR_USAGE_UNAVAILABLE", `DuckDB cannot read the usage: ${line}`, {}, { cause: error });
  }
}

async function importDuckDb(): Promise<{ readonly DuckDBInstance: typeof DuckDBInstance }> {
  try {
    return await import("@duckdb/node-api");
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new RatebookError(
      "ERR_USAGE_UNAVAILABLE",
      `Parquet files need the package ${PACKAGE}: npm install ${PACKAGE}`,
      {},
    );
  }
}
