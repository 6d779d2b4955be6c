/**
 * Opens the event files that a command names, each with its map where it is CSV.
 *
 * @module
 */
import { readTextFile } from "./documents.ts";
import { type ByteSource, openSource } from "./events/byte-source.ts";
import { type CsvMap, readCsvMap } from "./events/csv-map.ts";
import { createCsvCursor } from "./events/csv.ts";
import type { EventCursor } from "./events/cursor.ts";
import type { EventSink } from "./events/event-sink.ts";
import { createNdjsonCursor } from "./events/ndjson.ts";
import type { Io } from "./io.ts";
import { UsageError } from "./problems.ts";

/** What is read at once, all files together and at most for one. */
const BUFFERS_BYTES = 16 << 20;
const BUFFER_BYTES_MAX = 1 << 20;
const BUFFER_BYTES_MIN = 1 << 15;

/** A file of events and, where it is CSV, its map. */
export interface EventFile {
  readonly path: string;
  readonly map: string | undefined;
}

/** How files are read. */
export type FileReader = "ndjson" | "csv";

/** Files that are open. */
export interface OpenFiles {
  readonly cursors: readonly EventCursor[];
  readonly sources: readonly ByteSource[];
}

/**
 * Pairs files with maps: one map for all CSV files, or one for each file in the same order.
 *
 * @throws {UsageError} when a CSV file has no map, there are maps and no CSV file, or another number of them
 */
export function pairWithMaps(
  paths: readonly string[],
  maps: readonly string[],
  reader?: FileReader,
): readonly EventFile[] {
  const isCsvName = (path: string): boolean => (reader === undefined ? endsAsCsv(path) : reader === "csv");
  const isNdjsonName = (path: string): boolean => (reader === undefined ? endsAsNdjson(path) : reader === "ndjson");
  if (paths.filter((path) => path === "-").length > 1) throw new UsageError("--events - may be given once only");
  if (maps.length === 0) {
    const csv = paths.find(isCsvName);
    if (csv !== undefined)
      throw new UsageError(`${csv} is CSV and needs a --map that says where each part of an event is`);
    return paths.map((path) => ({ path, map: undefined }));
  }
  const mapped = paths.filter((path) => !isNdjsonName(path));
  if (mapped.length === 0) throw new UsageError("--map is for CSV files, and none of the --events is one");
  if (maps.length === 1) return paths.map((path) => ({ path, map: isNdjsonName(path) ? undefined : maps[0] }));
  if (maps.length === paths.length) {
    return paths.map((path, index) => ({ path, map: isNdjsonName(path) ? undefined : maps[index] }));
  }
  if (maps.length === mapped.length) {
    const left = maps.values();
    return paths.map((path) => ({ path, map: isNdjsonName(path) ? undefined : left.next().value }));
  }
  throw new UsageError(
    `expected one --map for all files or one for each: got ${maps.length} for ${paths.length} files`,
  );
}

/** Opens the files. @throws {InputError} for the first that cannot be read; none stays open then */
export async function openEventFiles(files: readonly EventFile[], sink: EventSink, io: Io): Promise<OpenFiles> {
  const sources: ByteSource[] = [];
  try {
    const maps = new Map<string, CsvMap>();
    for (const { map } of files) {
      if (map !== undefined && !maps.has(map)) maps.set(map, readCsvMap(map, await readTextFile(map, io)));
    }
    const share = Math.floor(BUFFERS_BYTES / Math.max(1, files.length));
    const bufferBytes = Math.min(BUFFER_BYTES_MAX, Math.max(BUFFER_BYTES_MIN, share));
    const cursors: EventCursor[] = [];
    for (const { path, map } of files) {
      const source = await openSource(path, io.stdin);
      sources.push(source);
      const name = path === "-" ? "standard input" : path;
      const csvMap = map === undefined ? undefined : maps.get(map);
      cursors.push(
        csvMap === undefined
          ? createNdjsonCursor(name, source, sink, { bufferBytes, shapes: true })
          : createCsvCursor(name, source, csvMap, sink),
      );
    }
    return { cursors, sources };
  } catch (error) {
    for (const source of sources) await source.close();
    throw error;
  }
}

function endsAsCsv(path: string): boolean {
  return /\.csv(?:\.gz)?$/i.test(path);
}

function endsAsNdjson(path: string): boolean {
  return /\.(?:ndjson|jsonl|json)(?:\.gz)?$/i.test(path);
}
