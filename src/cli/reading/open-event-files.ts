/** Opens the event files of a command, with their maps. */
import type { Book } from "../../book/resources/book.ts";
import { createMarkCheck } from "../../event-files/cell-texts.ts";
import type { EventFileMap, EventMakerOptions } from "../../event-files/event-file-map.ts";
import { createObjectEventMaker } from "../../event-files/json-fields.ts";
import type { EventSink, EventCursor } from "../../event-files/merge-events.ts";
import { groupBy } from "../../numbers/ids.ts";
import { openTables } from "../../warehouse/clickhouse/mapped-tables.ts";
import { connectClickHouse, isTableAddress, readTableAddress } from "../../warehouse/clickhouse/table.ts";
import { openParquet, type ParquetReadOptions } from "../../warehouse/duckdb/parquet-files.ts";
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
  if (paths.filter((path) => path === "-").length > 1) throw new UsageError("--events - can be given only once");
  if (maps.length === 0) {
    rejectUnmapped(
      "Parquet",
      "",
      paths.find((path) => formatOf(path) === "parquet"),
    );
    rejectUnmapped(
      "CSV",
      "; ratebook init --from FILE writes one",
      paths.find((path) => formatOf(path) === "csv"),
    );
  } else if (paths.length === 0) throw new UsageError("--map needs --events");
  const others = paths.filter((path) => formatOf(path) !== "ndjson");
  const mappedPaths = maps.length === paths.length || others.length === 0 ? paths : others;
  if (maps.length > 1 && maps.length !== mappedPaths.length)
    throw new UsageError(
      `expected one --map for all files, or one per file; got ${maps.length} for ${paths.length} files`,
    );
  const nextMaps = maps.values();
  return paths.map((path) => {
    const map = !mappedPaths.includes(path) ? undefined : maps.length === 1 ? maps[0] : nextMaps.next().value;
    return { path, map, origin: formatOf(path) ?? (map === undefined ? "ndjson" : "csv") };
  });
}

/** @param path of a file that needs a map @throws {UsageError} if there is one */
function rejectUnmapped(format: string, advice: string, path: string | undefined): void {
  if (path === undefined) return;
  throw new UsageError(`${path} is ${format} and needs a --map that names the column of each event field${advice}`);
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
    const mappedFiles = await readMaps(files, io);
    const streams = mappedFiles.filter(({ origin }) => origin === "ndjson" || origin === "csv");
    const parquetFiles = mappedFiles.filter(({ origin }) => origin === "parquet");
    const inputs = [...groupBy(parquetFiles, ({ mapping }) => mapping)].flatMap(([mapping, group]) =>
      mapping === undefined ? [] : [{ paths: group.map(({ path }) => path), map: mapping.map, mapFile: mapping.file }],
    );
    const tables = mappedFiles.flatMap(({ path, origin, mapping }) =>
      origin === "clickhouse" ? [{ ...readTableAddress(path, io.env), map: mapping }] : [],
    );
    const servers = [...groupBy(tables, ({ server }) => JSON.stringify(server)).values()];
    // Other files may contain the same ids, with events in between, so the core must meter every row.
    const isOnlyInput = streams.length === 0 && servers.length + Math.min(inputs.length, 1) === 1;
    const databaseReading = { ...reading, usesPushdown: reading.usesPushdown && isOnlyInput };
    if (inputs.length > 0) cursors.push(...(await openParquet(inputs, sink, databaseReading)));
    for (const group of servers) {
      const [first] = group;
      if (first === undefined) continue;
      cursors.push(...(await openTables(await connectClickHouse(first.server), group, sink, databaseReading)));
    }
    const share = Math.floor(CHUNKS_BYTES / Math.max(1, streams.length));
    const chunkBytes = Math.min(CHUNK_BYTES_MAX, Math.max(CHUNK_BYTES_MIN, share));
    for (const file of streams) {
      const source = await openByteSource(file.path, io.stdin, file.origin === "csv" ? undefined : chunkBytes);
      sources.push(source);
      cursors.push(openStream(file, source, sink, reading.book.eventSchemas));
    }
    const maps = mappedFiles.flatMap(({ name, mapping }) =>
      mapping === undefined ? [] : [[name, mapping.map] as const],
    );
    return { cursors, sources, maps: new Map(maps) };
  } catch (error) {
    for (const cursor of cursors) await cursor.close();
    for (const source of sources) await source.close();
    throw error;
  }
}

/** A file with its name in problems, and the content of its map. */
interface MappedFile extends EventFile {
  readonly name: string;
  readonly mapping: { readonly map: EventFileMap; readonly file: string } | undefined;
}

async function readMaps(files: readonly EventFile[], io: Io): Promise<readonly MappedFile[]> {
  const mappings = new Map<string | undefined, MappedFile["mapping"]>([[undefined, undefined]]);
  for (const { map: file } of files)
    if (file !== undefined && !mappings.has(file)) mappings.set(file, { map: await readMapFile(file, io), file });
  return files.map((file) => ({
    ...file,
    name: file.path === "-" ? "standard input" : file.path,
    mapping: mappings.get(file.map),
  }));
}

/** Opens an NDJSON or CSV file. */
function openStream(
  { name, origin, mapping }: MappedFile,
  source: ByteSource,
  sink: EventSink,
  eventSchemas: EventMakerOptions<unknown>["eventSchemas"],
): EventCursor {
  if (mapping === undefined) return createNdjsonCursor(name, source, sink);
  const { map } = mapping;
  const options = { eventSchemas, marks: createMarkCheck(name) };
  if (origin === "csv") return createCsvCursor(name, source, sink, { map, ...options });
  const makeEvent = createObjectEventMaker(map, options);
  return createNdjsonCursor(name, source, sink, { makeEvent, marks: options.marks });
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
