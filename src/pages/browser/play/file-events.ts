/**
 * The events of a dropped file: JSON lines, or CSV rows through a map, as on the command line. They are read and priced
 * in blocks of whole lines, so that the whole file is never in memory.
 */
import type { Book } from "../../../book/resources/book.ts";
import { hasCode, RatebookError } from "../../../errors.ts";
import { createMarkCheck } from "../../../event-files/cell-texts.ts";
import { createRowEventReader, createRowParser, detectSeparator, type Row } from "../../../event-files/csv-rows.ts";
import { readEventFileMap } from "../../../event-files/event-file-map.ts";
import { decodeUtf8, NOT_UTF8, splitLines, InputError } from "../../../event-files/input-error.ts";
import { createFieldSample, createObjectEventMaker, SAMPLE_ROWS_MAX } from "../../../event-files/json-fields.ts";
import type { Sample } from "../../../event-files/sample-columns.ts";
import { isCompleted } from "../../../ledger/outcome.ts";
import { createPreview, type PreviewRun } from "../../../ledger/preview/preview.ts";
import type { EventInput } from "../../../metering/event-envelope.ts";
import { parseJson } from "../../../numbers/json.ts";
import { createProblem, type Problem } from "../../../problem-table.ts";
import { describeNotBilled, listNotBilled } from "../../not-billed.ts";
import { needsMap } from "../../play/column-map.ts";
import { parseBookText } from "../../play/play-bill.ts";
import { type PlayPeriod, toPlayPeriods } from "../../play/play-periods.ts";

/** An unchecked event of a line, or why the line has none. */
type FileEvent =
  | { readonly line: number; readonly event: unknown; readonly reason?: undefined }
  | { readonly line: number; readonly reason: Problem };

/** A file and its map's text, if it needs one. */
interface MappedFile {
  readonly file: File;
  readonly map?: string | undefined;
}

/** A file, with a sample if it needs a map. */
export interface ChosenFile extends MappedFile {
  readonly sample: Sample | undefined;
  /** Whether it is priced: its map is complete, or it needs none. */
  readonly isReady: boolean;
  /** Why the files that were chosen are not priced. */
  readonly failure?: string;
}

/** The maximum bytes by which the kind of a file is detected. */
const BEGINNING_BYTES = 1 << 20;

/** A row of CSV or a value of JSON, or why lines have none. */
type FileRecord =
  | { readonly line: number; readonly record: unknown }
  | { readonly line: number; readonly reason: Problem };

/** Reads the records of a block of whole lines; for undefined, the remaining ones at the end of the file. */
type RecordReader = (block: Uint8Array | undefined) => Promise<readonly FileRecord[]>;

/** An open file: CSV by its name, otherwise if it doesn't start with an object. */
interface OpenFile {
  readonly isTable: boolean;
  /** The text at its start, whatever its encoding. */
  readonly beginning: string;
  /** The records in order. */
  readonly batches: AsyncGenerator<readonly FileRecord[]>;
}

/** @throws {InputError} for an empty or unreadable file, as reading its batches does */
async function openFile(file: File, onRead: (bytes: number) => void = () => undefined): Promise<OpenFile> {
  const blocks = readLineBlocks(file, onRead);
  const first = await blocks.next();
  if (first.done === true) throw new InputError("the file is empty");
  const beginning = new TextDecoder().decode(first.value.subarray(0, BEGINNING_BYTES));
  const isObjects = /\.(?:ndjson|jsonl|json)(?:\.gz)?$/i.test(file.name);
  const isTable = !isObjects && (/\.(?:csv|tsv)(?:\.gz)?$/i.test(file.name) || !/^\s*[{[]/.test(beginning));
  const readBlock = isTable ? createRowReader(file.name, beginning) : createObjectReader();
  async function* readBatches(): AsyncGenerator<readonly FileRecord[]> {
    yield await readBlock(first.value);
    for await (const block of blocks) yield await readBlock(block);
    yield await readBlock(undefined);
  }
  return { isTable, beginning, batches: readBatches() };
}

function createRowReader(name: string, beginning: string): RecordReader {
  let rows: Row[] = [];
  const parser = createRowParser(name, detectSeparator(beginning), (row) => rows.push(row));
  return async (block) => {
    rows = [];
    await (block === undefined ? parser.end() : parser.parse(block));
    return rows;
  };
}

function createObjectReader(): RecordReader {
  let line = 0;
  return async (block) =>
    Promise.resolve(
      decodeLines(block ?? new Uint8Array()).flatMap((text): readonly FileRecord[] => {
        line++;
        if (text === undefined) return [{ line, reason: NOT_UTF8 }];
        if (text.trim() === "") return [];
        try {
          return [{ line, record: parseJson(text) }];
        } catch (error) {
          if (hasCode(error, "ERR_JSON_INVALID"))
            return [{ line, reason: createProblem("$", "INVALID_JSON", { reason: error.message }) }];
          throw error;
        }
      }),
    );
}

/** The lines of a block as text; undefined for invalid UTF-8. */
function decodeLines(block: Uint8Array): readonly (string | undefined)[] {
  const text = decodeUtf8(block);
  if (text === undefined) return [...splitLines(block)].map(decodeUtf8);
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** Reads the events of a file in order, in batches. @throws {InputError} for an unreadable file or map */
async function* readFileEvents(
  { file, map: mapText }: MappedFile,
  eventSchemas: Book["eventSchemas"],
  onRead: (bytes: number) => void,
): AsyncGenerator<readonly FileEvent[]> {
  const { isTable, batches } = await openFile(file, onRead);
  const options = { eventSchemas, marks: createMarkCheck(file.name) };
  const map = mapText === undefined ? undefined : readEventFileMap("the map", mapText);
  const readRow = isTable && map !== undefined ? createRowEventReader(file.name, map, options) : undefined;
  const makeEvent = isTable || map === undefined ? undefined : createObjectEventMaker(map, options);
  let objectCount = 0;
  const toEvent = (record: FileRecord): FileEvent | undefined => {
    if (readRow !== undefined) return readRow(record as Row);
    if ("reason" in record) return record;
    const { line, record: object } = record;
    if (makeEvent === undefined) return { line, event: object };
    objectCount++;
    const event = makeEvent(object, objectCount);
    return "code" in event ? { line, reason: event } : { line, event };
  };
  for await (const records of batches) yield records.map(toEvent).filter((event) => event !== undefined);
  options.marks.end();
}

/**
 * The first rows of a file that needs a map; undefined for a file of events.
 * @throws {InputError} for an unreadable file
 */
export async function readSample(file: File): Promise<Sample | undefined> {
  const { isTable, beginning, batches } = await openFile(file);
  if (!isTable && /^\s*\[/.test(beginning)) {
    throw new InputError(
      "the file is one JSON list; convert it to NDJSON (one object per line), for example with jq -c '.[]'",
    );
  }
  const records: FileRecord[] = [];
  for await (const batch of batches) {
    records.push(...batch);
    if (records.length > SAMPLE_ROWS_MAX) break;
  }
  const values = records.flatMap((each) => ("reason" in each ? [] : [each.record]));
  if (!isTable) {
    const objects = values.slice(0, SAMPLE_ROWS_MAX);
    return needsMap(objects) ? createFieldSample(file.name, objects) : undefined;
  }
  const [header, ...rows] = values as readonly (readonly string[])[];
  if (header === undefined || rows.length === 0) throw new InputError("expected a header and at least one row");
  return { header, rows: rows.slice(0, SAMPLE_ROWS_MAX) };
}

/** The maximum bytes of a line; files with longer ones don't contain events. */
const LINE_BYTES_MAX = 1 << 24;
const LINE_END = 0x0a;

/** Signatures of binary files, with advice on each. */
const BINARY_KINDS: readonly (readonly [bytes: readonly number[], advice: string])[] = [
  [[0x50, 0x41, 0x52, 0x31], "the file is Parquet, which ratebook preview --events FILE --map MAP prices"],
  [[0x50, 0x4b, 0x03, 0x04], "the file is a spreadsheet or an archive: save it as CSV in UTF-8"],
  [[0xd0, 0xcf, 0x11, 0xe0], "the file is a spreadsheet: save it as CSV in UTF-8"],
  [[0xff, 0xfe], "the file is UTF-16: save it as UTF-8"],
  [[0xfe, 0xff], "the file is UTF-16: save it as UTF-8"],
  [[0x25, 0x50, 0x44, 0x46], "the file is a PDF, not an event file"],
];
const GZIP = [0x1f, 0x8b] as const;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;

/**
 * Reads the blocks of a file, decompressing gzip. Every block ends at a line end or the end of the file.
 *
 * @param onRead receives the number of bytes read from the file itself
 * @throws {InputError} for a file that isn't text or can't be read
 */
async function* readLineBlocks(file: Blob, onRead: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array();
  let isFirst = true;
  for await (const part of readBytes(file, onRead)) {
    const bytes = joinBytes(rest, part);
    const end = bytes.lastIndexOf(LINE_END) + 1;
    rest = bytes.subarray(end);
    if (rest.length > LINE_BYTES_MAX) throw new InputError("a line is longer than 16 MiB; this is not an event file");
    if (end === 0) continue;
    yield requireTextBlock(bytes.subarray(0, end), isFirst);
    isFirst = false;
  }
  if (rest.length > 0) yield requireTextBlock(rest, isFirst);
}

function joinBytes(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}

async function* readBytes(file: Blob, onRead: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  try {
    const beginning = new Uint8Array(await file.slice(0, 8).arrayBuffer());
    const isGzip = startsWith(beginning, GZIP);
    let bytesRead = 0;
    const countedStream = file.stream().pipeThrough(
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform: (part, controller) => {
          bytesRead += part.byteLength;
          onRead(bytesRead);
          controller.enqueue(part);
        },
      }),
    );
    const reader = (isGzip ? countedStream.pipeThrough(new DecompressionStream("gzip")) : countedStream).getReader();
    try {
      for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
    } finally {
      await reader.cancel().catch(() => undefined);
    }
  } catch (error) {
    throw new InputError(describeReadError(error));
  }
}

/** Why a browser stopped reading. */
function describeReadError(error: unknown): string {
  if (error instanceof InputError) return error.message;
  if (error instanceof TypeError) return "the gzip data is damaged";
  const name = error instanceof Error ? error.name : "";
  if (name === "NotFoundError" || name === "NotReadableError") {
    return "the file cannot be read; it may be a folder or may have changed";
  }
  return error instanceof Error ? error.message : String(error);
}

/** Removes a byte order mark. @throws {InputError} for a block that isn't text */
function requireTextBlock(block: Uint8Array, isFirst: boolean): Uint8Array {
  if (!isFirst) return block;
  const kind = BINARY_KINDS.find(([bytes]) => startsWith(block, bytes));
  if (kind !== undefined) throw new InputError(kind[1]);
  return startsWith(block, BYTE_ORDER_MARK) ? block.subarray(BYTE_ORDER_MARK.length) : block;
}

function startsWith(block: Uint8Array, bytes: readonly number[]): boolean {
  return bytes.every((byte, at) => block[at] === byte);
}

export interface WorkerRequest extends MappedFile {
  readonly book: string;
}

/** A message of a worker: progress while it reads, and one result at the end. */
export type WorkerMessage =
  | { readonly kind: "progress"; readonly read: number; readonly events: number }
  | {
      readonly kind: "done";
      readonly events: number;
      readonly periods: readonly PlayPeriod[];
      readonly problems: readonly string[];
      /** The number of events not counted and lines without an event. */
      readonly problemCount: number;
      /** The number of rows that the map leaves out. */
      readonly leftOutCount: number;
      /** What usage is not billed, and why. */
      readonly notBilled: readonly string[];
    }
  | { readonly kind: "failed"; readonly message: string };

/** The maximum number of problems shown. */
const PROBLEMS_MAX = 20;
/** Bytes between two progress messages. */
const PROGRESS_BYTES = 1 << 20;

/** Prices a file and reports progress. */
export async function priceFile(
  { book: bookText, file, map }: WorkerRequest,
  onMessage: (message: WorkerMessage) => void,
): Promise<void> {
  const bookResult = parseBookText(bookText);
  if ("problems" in bookResult)
    return onMessage({ kind: "failed", message: bookResult.problems[0]?.message ?? "the book has a problem" });
  try {
    const run = createPreview(bookResult.book, { explain: true });
    const problems: string[] = [];
    let [events, leftOutCount, problemCount, bytes, reportedBytes] = [0, 0, 0, 0, 0];
    const blocks = readFileEvents({ file, map }, bookResult.book.eventSchemas, (count) => {
      bytes = count;
    });
    for await (const block of blocks) {
      for (const event of block) {
        if (event.reason?.code === "ROW_LEFT_OUT") {
          leftOutCount += 1;
          continue;
        }
        events += 1;
        const problem = addEvent(event, run);
        if (problem === undefined) continue;
        problemCount += 1;
        if (problems.length < PROBLEMS_MAX) problems.push(`line ${event.line}: ${problem}`);
      }
      if (bytes - reportedBytes < PROGRESS_BYTES) continue;
      reportedBytes = bytes;
      onMessage({ kind: "progress", read: bytes / file.size, events });
    }
    const { invoices, unmetered } = run.finish();
    const { book } = bookResult;
    onMessage({
      kind: "done",
      events,
      periods: toPlayPeriods(invoices, book),
      problems,
      problemCount,
      leftOutCount,
      notBilled: listNotBilled({ book, read: events, unmetered, invoices }).map(describeNotBilled),
    });
  } catch (error) {
    onMessage({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
  }
}

/** Why an event is not counted; undefined if it is. */
function addEvent({ event, reason }: FileEvent & { readonly event?: unknown }, run: PreviewRun): string | undefined {
  if (reason !== undefined) return reason.message;
  try {
    const { status, description } = run.add(event as EventInput);
    return isCompleted(status) ? undefined : description;
  } catch (error) {
    if (error instanceof RatebookError) return error.message;
    throw error;
  }
}
