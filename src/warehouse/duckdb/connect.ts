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
import { quotedText } from "./sql-names.ts";

/** How much an instance may take. */
export interface DuckDbLimits {
  /** Memory as DuckDB writes it, such as `400MB`; default 1GB. */
  readonly memory?: string | undefined;
  readonly threads?: number | undefined;
}

/** A row: the values of its columns in their order. */
export type DuckDbRow = readonly DuckDBValue[];

/** An open instance. */
export interface DuckDb {
  /** Runs a statement. @throws {RatebookError} ERR_USAGE_UNAVAILABLE with what DuckDB says */
  readonly run: (sql: string) => Promise<readonly DuckDbRow[]>;
  /** Runs a statement, and gives its rows as they come, some at a time. */
  readonly stream: (sql: string) => AsyncIterable<readonly DuckDbRow[]>;
  readonly close: () => Promise<void>;
}

const PACKAGE = "@duckdb/node-api";

/** Opens an instance. @throws {RatebookError} ERR_REFUSED where the package is not installed, or a limit is none */
export async function openDuckDb({ memory = "1GB", threads }: DuckDbLimits = {}): Promise<DuckDb> {
  const duckDb = await duckDbPackage();
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
      `memory_limit = ${quotedText(memory)}`,
      `temp_directory = ${quotedText(folder)}`,
      "preserve_insertion_order = false",
      // Nothing depends on it, for every time is computed from the microseconds of UTC; a host's zone is kept out all the same.
      "TimeZone = 'UTC'",
      ...(threads === undefined ? [] : [`threads = ${threads}`]),
    ];
    for (const setting of settings) await told(async () => first.run(`set ${setting}`));
    return {
      run: async (sql) => told(async () => (await first.runAndReadAll(sql)).getRows()),
      // A connection has one result at a time.
      stream: (sql) => streamed(connect, sql),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function* streamed(connect: () => Promise<DuckDBConnection>, sql: string): AsyncIterable<readonly DuckDbRow[]> {
  const result = await told(async () => (await connect()).stream(sql));
  for (;;) {
    const chunk = await told(async () => result.fetchChunk());
    if (chunk === null || chunk.rowCount === 0) return;
    yield chunk.getRows();
  }
}

/** The first line of what DuckDB says, as an error of ours. */
async function told<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RatebookError || !(error instanceof Error)) throw error;
    const [line = ""] = error.message.split("\n");
    throw new RatebookError("ERR_USAGE_UNAVAILABLE", `DuckDB cannot read the usage: ${line}`, {}, { cause: error });
  }
}

async function duckDbPackage(): Promise<{ readonly DuckDBInstance: typeof DuckDBInstance }> {
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
