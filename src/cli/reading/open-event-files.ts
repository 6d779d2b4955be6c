/** Opens the event files of a command, with their maps. */
import type { Book } from "../../book/resources/book.ts";
import { createMarkCheck } from "../../event-files/cell-texts.ts";
import type { EventFileMap, EventMakerOptions } from "../../event-files/event-file-map.ts";
import { createObjectEventMaker } from "../../event-files/json-fields.ts";
import type { EventSink, EventCursor } from "../../event-files/merge-events.ts";
import { openTables, type TableInput } from "../../warehouse/clickhouse/mapped-tables.ts";
import {
  connectClickHouse,
  isTableAddress,
  readTableAddress,
  type ServerAddress,
} from "../../warehouse/clickhouse/table.ts";
import { openParquet, type ParquetInput, type ParquetReadOptions } from "../../warehouse/duckdb/parquet-files.ts";
import { readMapFile } from "../documents/map-file.ts";
import { UsageError } from "../errors.ts";
import { type ByteSource, openByteSource } from "../event-inputs/byte-source.ts";
import { createCsvCursor } from "../event-inputs/csv-cursor.ts";
import { createNdjsonCursor } from "../event-inputs/ndjson-cursor.ts";
import type { Io } from "../io.ts";
import type { EventFormat } from "./event-options.ts";

/** The chunks of NDJSON files in bytes: of all together, and the maximum and minimum for one. */
const CHUNKS_BYTES = 16 << 20;
const CHUNK_BYTES_MAX = 1 << 20;
const CHUNK_BYTES_MIN = 1 << 15;

/** The format of a file, or a table, which is recognized by its address. */
type EventOrigin = EventFormat | "clickhouse";

/**
 * A file or table of events, and its map. CSV and Parquet need one, NDJSON if its objects aren't standard events,
 * tables if their columns have other names.
 */
export interface EventFile {
  readonly path: string;
  readonly map: string | undefined;
  readonly origin: EventOrigin;
}

/** Open files. */
export interface OpenFiles {
  readonly cursors: readonly EventCursor[];
  readonly sources: readonly ByteSource[];
  /** The maps of the files that have one, by the file name in problems. */
  readonly maps: ReadonlyMap<string, EventFileMap>;
}

/**
 * Assigns maps to files: one map for all CSV and Parquet files, or one for each file in the same order. NDJSON without a
 * map contains standard events; a single map applies to NDJSON too if all files are NDJSON.
 *
 * @throws {UsageError} if a CSV or Parquet file has no map, or the number of maps doesn't match
 */
export function pairWithMaps(
  paths: readonly string[],
  maps: readonly string[],
  format?: EventFormat,
): readonly EventFile[] {
  const formatOf = (path: string): EventOrigin | undefined =>
    isTableAddress(path) ? "clickhouse" : (format ?? formatByName(path));
  const isNdjsonName = (path: string): boolean => formatOf(path) === "ndjson";
  const toEventFile = (path: string, map: string | undefined): EventFile => {
    const origin = formatOf(path);
    const isBinary = origin === "clickhouse" || origin === "parquet";
    if (isBinary) return { path, map, origin };
    return { path, map, origin: map === undefined || origin === "ndjson" ? "ndjson" : "csv" };
  };
  if (paths.filter((path) => path === "-").length > 1) throw new UsageError("--events - can be given only once");
  if (maps.length === 0) {
    const parquet = paths.find((path) => formatOf(path) === "parquet");
    if (parquet !== undefined)
      throw new UsageError(`${parquet} is Parquet and needs a --map that names the column of each event field`);
    const csv = paths.find((path) => formatOf(path) === "csv");
    if (csv !== undefined) {
      throw new UsageError(
        `${csv} is CSV and needs a --map that names the column of each event field; ratebook init --from FILE writes one`,
      );
    }
    return paths.map((path) => toEventFile(path, undefined));
  }
  if (paths.length === 0) throw new UsageError("--map needs --events");
  if (maps.length === paths.length) return paths.map((path, index) => toEventFile(path, maps[index]));
  const pathsNeedingMaps = paths.filter((path) => !isNdjsonName(path));
  if (maps.length === 1) {
    return paths.map((path) =>
      toEventFile(path, pathsNeedingMaps.length > 0 && isNdjsonName(path) ? undefined : maps[0]),
    );
  }
  if (maps.length === pathsNeedingMaps.length) {
    const remainingMaps = maps.values();
    return paths.map((path) => toEventFile(path, isNdjsonName(path) ? undefined : remainingMaps.next().value));
  }
  throw new UsageError(
    `expected one --map for all files, or one per file; got ${maps.length} for ${paths.length} files`,
  );
}

/** A sink of whole events, without slots and sums. Lines without an event are ignored. */
export function createEventSink(onEvent: (event: unknown) => void): EventSink {
  return {
    onEvent: (_file, _line, event) => {
      onEvent(event);
      return true;
    },
    onBadLine: () => true,
    onSummedEvents: () => false,
  };
}

/**
 * Options for reading row by row, without sums.
 *
 * @param memory the memory limit of DuckDB
 * @param eventSchemas the schemas of rows with empty cells that a map skips; default none, so that no row is left out
 */
export function createRowReading(
  memory: string | undefined,
  eventSchemas: Book["eventSchemas"] = [],
): ParquetReadOptions {
  return {
    book: { eventSchemas, usageMeters: [], accounts: [] },
    usesPushdown: false,
    dedupes: false,
    memory,
  };
}

/**
 * Opens the files. Closes all after an error.
 *
 * @throws {InputError} for the first that can't be read
 */
export async function openEventFiles(
  files: readonly EventFile[],
  sink: EventSink,
  io: Io,
  reading: ParquetReadOptions,
): Promise<OpenFiles> {
  const sources: ByteSource[] = [];
  const cursors: EventCursor[] = [];
  try {
    const maps = new Map<string, EventFileMap>();
    for (const { map } of files) {
      if (map !== undefined && !maps.has(map)) maps.set(map, await readMapFile(map, io));
    }
    const streams = files.filter(({ origin }) => origin !== "parquet" && origin !== "clickhouse");
    const inputs = groupParquetFiles(files, maps);
    const servers = groupTables(files, maps, io);
    // Other files may contain the same ids, with events in between, so the core must meter every row.
    const isOnlyInput = streams.length === 0 && servers.length + Math.min(inputs.length, 1) === 1;
    const databaseReading = { ...reading, usesPushdown: reading.usesPushdown && isOnlyInput };
    if (inputs.length > 0) cursors.push(...(await openParquet(inputs, sink, databaseReading)));
    for (const { server, tables } of servers)
      cursors.push(...(await openTables(await connectClickHouse(server), tables, sink, databaseReading)));
    const share = Math.floor(CHUNKS_BYTES / Math.max(1, streams.length));
    const chunkBytes = Math.min(CHUNK_BYTES_MAX, Math.max(CHUNK_BYTES_MIN, share));
    for (const { path, origin } of streams)
      sources.push(await openByteSource(path, io.stdin, origin === "csv" ? undefined : chunkBytes));
    cursors.push(...openStreams(streams, sources, sink, { maps, eventSchemas: reading.book.eventSchemas }));
    return { cursors, sources, maps: mapsByFile(files, maps) };
  } catch (error) {
    for (const cursor of cursors) await cursor.close();
    for (const source of sources) await source.close();
    throw error;
  }
}

/** Maps by the path of their file. */
type Maps = ReadonlyMap<string, EventFileMap>;

/** The name of a file in problems. */
function fileName(path: string): string {
  return path === "-" ? "standard input" : path;
}

/** The map of each event file that has one, by the file name in problems. */
function mapsByFile(files: readonly EventFile[], maps: Maps): ReadonlyMap<string, EventFileMap> {
  return new Map(
    files.flatMap(({ path, map: mapFile = "" }) => {
      const map = maps.get(mapFile);
      return map === undefined ? [] : [[fileName(path), map]];
    }),
  );
}

/** Opens NDJSON and CSV files. @param sources the sources of the files */
function openStreams(
  streams: readonly EventFile[],
  sources: readonly ByteSource[],
  sink: EventSink,
  { maps, eventSchemas }: { readonly maps: Maps; readonly eventSchemas: EventMakerOptions<unknown>["eventSchemas"] },
): readonly EventCursor[] {
  return sources.flatMap((source, index) => {
    const stream = streams[index];
    if (stream === undefined) return [];
    const { path, map, origin } = stream;
    const name = fileName(path);
    const fileMap = map === undefined ? undefined : maps.get(map);
    if (fileMap === undefined) return [createNdjsonCursor(name, source, sink)];
    const options = { eventSchemas, marks: createMarkCheck(name) };
    if (origin === "csv") return [createCsvCursor(name, source, sink, { map: fileMap, ...options })];
    const makeEvent = createObjectEventMaker(fileMap, options);
    return [createNdjsonCursor(name, source, sink, { makeEvent, marks: options.marks })];
  });
}

/** The Parquet files, grouped by map. */
function groupParquetFiles(files: readonly EventFile[], maps: Maps): readonly ParquetInput[] {
  const paths = new Map<string, string[]>();
  for (const { path, map = "", origin } of files) {
    if (origin === "parquet") paths.set(map, [...(paths.get(map) ?? []), path]);
  }
  return [...paths].flatMap(([mapFile, mapPaths]) => {
    const map = maps.get(mapFile);
    return map === undefined ? [] : [{ paths: mapPaths, map, mapFile }];
  });
}

/** The tables, grouped by server. */
function groupTables(
  files: readonly EventFile[],
  maps: Maps,
  { env }: Io,
): readonly { readonly server: ServerAddress; readonly tables: readonly TableInput[] }[] {
  const servers = new Map<string, { readonly server: ServerAddress; readonly tables: TableInput[] }>();
  for (const { path, map: file, origin } of files) {
    if (origin !== "clickhouse") continue;
    const { server, name } = readTableAddress(path, env);
    const map = file === undefined ? undefined : maps.get(file);
    const key = JSON.stringify(server);
    const group = servers.get(key) ?? { server, tables: [] };
    group.tables.push({ name, map: map === undefined || file === undefined ? undefined : { map, file } });
    servers.set(key, group);
  }
  return [...servers.values()];
}

/** The format of a file by its name; undefined if the name does not tell it. */
function formatByName(path: string): EventFormat | undefined {
  if (/\.(?:parquet|parq|pq)$/i.test(path)) return "parquet";
  if (/\.csv(?:\.gz)?$/i.test(path)) return "csv";
  return hasNdjsonName(path) ? "ndjson" : undefined;
}

/** Whether a file is NDJSON by its name. */
export function hasNdjsonName(path: string): boolean {
  return /\.(?:ndjson|jsonl|json)(?:\.gz)?$/i.test(path);
}
