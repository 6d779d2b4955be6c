/**
 * Opens Parquet files of events in DuckDB.
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
