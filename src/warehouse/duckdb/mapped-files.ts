/**
 * Parquet files of events, read by DuckDB.
 *
 * @module
 */
import type { EventFileMap } from "../../event-files/event-file-map.ts";
import type { EventSink } from "../../event-files/event-sink.ts";
import type { EventCursor } from "../../event-files/merge-events.ts";
import { type DatabaseReadOptions, type MappedRows, openDatabaseCursors } from "../reading/database-cursors.ts";
import { listMappedColumns } from "../reading/mapped-source.ts";
import { openDuckDb } from "./connect.ts";
import { FILE_EXPRESSION, openParquetFiles } from "./parquet-files.ts";

/** Files of one map, in their order. */
export interface ParquetInput {
  readonly paths: readonly string[];
  readonly map: EventFileMap;
  /** The map's file, for messages. */
  readonly mapFile: string;
}

/** How Parquet files are read. */
export interface ParquetReadOptions extends DatabaseReadOptions {
  /** The limit of DuckDB's memory. */
  readonly memory: string | undefined;
}

/**
 * Opens files.
 *
 * @param openDatabase opens the database
 * @throws {RatebookError} ERR_USAGE_UNAVAILABLE or ERR_INPUT_INVALID where they cannot be read
 */
export async function openParquet(
  inputs: readonly ParquetInput[],
  sink: EventSink,
  reading: ParquetReadOptions,
  openDatabase: typeof openDuckDb = openDuckDb,
): Promise<readonly EventCursor[]> {
  const db = await openDatabase({ memory: reading.memory });
  try {
    const rows: MappedRows[] = [];
    for (const { paths, map, mapFile } of inputs) {
      const databaseRows = await openParquetFiles(db, paths, listMappedColumns(map));
      rows.push({ databaseRows: { ...databaseRows, fileExpression: FILE_EXPRESSION }, map, mapFile });
    }
    return await openDatabaseCursors(db, rows, sink, reading);
  } catch (error) {
    await db.close();
    throw error;
  }
}
