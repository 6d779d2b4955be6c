/**
 * The events of a file that a person gave to the page: lines of JSON, or rows of CSV through a map, as the command line has them.
 *
 * @module
 */
import { hasCode } from "../../../errors.ts";
import { parseJson } from "../../../numbers/json.ts";
import type { Sample } from "../../../records/columns.ts";
import { readCsvMap } from "../../../records/csv-map.ts";
import { createRowParser, type Row, type RowParser } from "../../../records/csv-rows.ts";
import { eventOfObject } from "../../../records/json-fields.ts";
import { linesOf, NOT_UTF8, textOfBytes } from "../../../records/lines.ts";
import { InputError } from "../../../records/problems.ts";
import { type EventRow, rowEvents } from "../../../records/row-events.ts";
import { fieldSample, SAMPLE_ROWS_MAX } from "../../../records/samples.ts";
import { separatorOf } from "../../../records/separator.ts";
import { needsMap } from "../../play/column-map.ts";
import { lineBlocks } from "./file-blocks.ts";

/** An event of a line, not checked yet, or why there is none. */
export type FileEvent =
  | { readonly line: number; readonly event: unknown; readonly reason?: undefined }
  | { readonly line: number; readonly reason: string };

/** A file, and the text of its map where it needs one. */
export interface MappedFile {
  readonly file: File;
  readonly map?: string | undefined;
}

const SAMPLE_BYTES = 1 << 20;

/** The events of a file in its order, many at once. @throws {InputError} for a file or a map that cannot be read */
export async function* fileEvents(
  { file, map }: MappedFile,
  onRead: (bytes: number) => void,
): AsyncGenerator<readonly FileEvent[]> {
  const blocks = lineBlocks(file, onRead);
  const first = await blocks.next();
  if (first.done === true) return;
  const read = isTable(file.name, first.value) && map !== undefined ? tableReader(file.name, map) : objectReader(map);
  yield await read(first.value);
  for await (const block of blocks) yield await read(block);
  yield await read(undefined);
}

/** Makes events of a block; of undefined, of what is left at the end. */
type BlockReader = (block: Uint8Array | undefined) => Promise<readonly FileEvent[]>;

function objectReader(mapText: string | undefined): BlockReader {
  const make = mapText === undefined ? undefined : eventOfObject(readCsvMap("the map", mapText));
  let line = 0;
  let rowNumber = 0;
  return async (block) =>
    Promise.resolve(
      textsOf(block ?? new Uint8Array()).flatMap((text): readonly FileEvent[] => {
        line++;
        if (text === undefined) return [{ line, reason: NOT_UTF8 }];
        if (text.trim() === "") return [];
        try {
          const object = parseJson(text);
          if (make === undefined) return [{ line, event: object }];
          rowNumber++;
          const event = make(object, rowNumber);
          return [typeof event === "string" ? { line, reason: event } : { line, event }];
        } catch (error) {
          if (hasCode(error, "ERR_JSON_INVALID")) return [{ line, reason: error.message }];
          throw error;
        }
      }),
    );
}

function tableReader(name: string, mapText: string): BlockReader {
  const eventOf = rowEvents(name, readCsvMap("the map", mapText));
  const readRows = rowReader(name);
  return async (block) => (await readRows(block)).map(eventOf).filter((row): row is EventRow => row !== undefined);
}

/** Cuts blocks into rows. */
function rowReader(name: string): (block: Uint8Array | undefined) => Promise<readonly Row[]> {
  let rows: Row[] = [];
  let parser: RowParser | undefined;
  return async (block) => {
    rows = [];
    if (block === undefined) await parser?.end();
    else {
      parser ??= createRowParser(name, separatorOf(beginningOf(block)), (row) => rows.push(row));
      await parser.parse(block);
    }
    return rows;
  };
}

/** The lines of a block as texts; undefined for one that is no UTF-8. */
function textsOf(block: Uint8Array): readonly (string | undefined)[] {
  const text = textOfBytes(block);
  if (text === undefined) return [...linesOf(block)].map(textOfBytes);
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** The text at the beginning of a file, whatever bytes are in it. */
function beginningOf(block: Uint8Array): string {
  return new TextDecoder().decode(block.subarray(0, SAMPLE_BYTES));
}

/** Whether a file is a table: by its name, and where that does not say it, where no object stands at its beginning. */
function isTable(name: string, block: Uint8Array): boolean {
  if (/\.(?:ndjson|jsonl|json)(?:\.gz)?$/i.test(name)) return false;
  return /\.(?:csv|tsv)(?:\.gz)?$/i.test(name) || !/^\s*[{[]/.test(beginningOf(block));
}

/** The first rows of a file that needs a map; undefined for one that holds events. @throws {InputError} as reading does */
export async function sampleOf(file: File): Promise<Sample | undefined> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const block of lineBlocks(file, () => undefined)) {
    parts.push(block);
    bytes += block.byteLength;
    if (bytes >= SAMPLE_BYTES) break;
  }
  const [first] = parts;
  if (first === undefined) throw new InputError("the file is empty");
  return isTable(file.name, first) ? tableSample(file.name, parts) : objectSample(file.name, parts);
}

async function tableSample(name: string, parts: readonly Uint8Array[]): Promise<Sample> {
  const readRows = rowReader(name);
  const rows: (readonly string[])[] = [];
  for (const part of [...parts, undefined]) {
    for (const { record } of await readRows(part)) if (record !== undefined) rows.push(record);
  }
  const [header, ...more] = rows;
  if (header === undefined || more.length === 0) throw new InputError("expected a header and at least one row");
  const separator = separatorOf(beginningOf(parts[0] ?? new Uint8Array()));
  return { header, rows: more.slice(0, SAMPLE_ROWS_MAX), separator };
}

function objectSample(name: string, parts: readonly Uint8Array[]): Sample | undefined {
  const texts = parts.flatMap(textsOf).filter((text) => text !== undefined && text.trim() !== "");
  if (/^\s*\[/.test(texts[0] ?? "")) {
    throw new InputError("the file is one JSON list: expected an object a line, as jq -c '.[]' makes it of a list");
  }
  const objects = texts.slice(0, SAMPLE_ROWS_MAX).flatMap((text) => {
    try {
      return [parseJson(text ?? "")];
    } catch (error) {
      if (hasCode(error, "ERR_JSON_INVALID")) return [];
      throw error;
    }
  });
  return needsMap(objects) ? fieldSample(name, objects) : undefined;
}
