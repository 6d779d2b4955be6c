/**
 * Parquet files of events, read by DuckDB.
 *
 * @module
 */
import type { CsvMap } from "../../records/csv-map.ts";
import type { EventCursor } from "../../records/event-cursor.ts";
import type { EventSink } from "../../records/event-sink.ts";
import { type DatabaseReading, type MappedRows, openDatabaseCursors } from "../reading/database-cursors.ts";
import { columnsNamedBy } from "../reading/mapped-source.ts";
import { openDuckDb } from "./connect.ts";
import { FILE_OF_ROW, openParquetFiles } from "./parquet-files.ts";

/** Files of one map, in their order. */
export interface ParquetInput {
  readonly paths: readonly string[];
  readonly map: CsvMap;
  /** The map's file, for messages. */
  readonly mapFile: string;
}

/** How Parquet files are read. */
export interface ParquetReading extends DatabaseReading {
  /** The limit of DuckDB's memory. */
  readonly memory: string | undefined;
}

/**
 * Opens files.
 *
 * @param open opens the database
 * @throws {RatebookError} ERR_USAGE_UNAVAILABLE or ERR_INPUT_INVALID where they cannot be read
 */
export async function openParquet(
  inputs: readonly ParquetInput[],
  sink: EventSink,
  reading: ParquetReading,
  open: typeof openDuckDb = openDuckDb,
): Promise<readonly EventCursor[]> {
  const db = await open({ memory: reading.memory });
  try {
    const rows: MappedRows[] = [];
    for (const { paths, map, mapFile } of inputs) {
      const found = await openParquetFiles(db, paths, columnsNamedBy(map));
      rows.push({ found: { ...found, file: FILE_OF_ROW }, map, mapFile });
    }
    return await openDatabaseCursors(db, rows, sink, reading);
  } catch (error) {
    await db.close();
    throw error;
  }
}
