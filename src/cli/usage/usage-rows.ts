/**
 * Usage that was counted elsewhere: so many units of a meter, by account and day. Read as a stream, row by row.
 *
 * @module
 */
import { createInterface } from "node:readline";
import { Readable } from "node:stream";

import { parse } from "csv-parse";

import { hintAt } from "../../book/nearest.ts";
import { openDocument } from "../../book/reading/json-document.ts";
import { RatebookError } from "../../errors.ts";
import { readUsageRow, toUsageRow, USAGE_FIELDS as FIELDS } from "../../metering/usage-row.ts";
import { formatDecimal } from "../../numbers/decimal.ts";
import { parseJson } from "../../numbers/json.ts";
import { InputError, quoted } from "../../records/problems.ts";
import { type Separator, separatorOf } from "../../records/separator.ts";
import { type ByteSource, openSource } from "../events/byte-source.ts";
import type { Io } from "../io.ts";

/** How much of a meter an account used on a day. Several rows of one account, meter and day add up. */
export interface UsageRow {
  readonly accountId: string;
  readonly meterId: string;
  /** The UTC day, as in `2026-01-31`. */
  readonly date: string;
  /** The exact decimal, as plain text; it may be below zero (S5.2). */
  readonly quantity: string;
}

/** A row where it stands, or why there is none. */
export type UsageLine = { readonly file: string; readonly line: number } & (
  | { readonly row: UsageRow; readonly problem?: undefined }
  | { readonly row?: undefined; readonly problem: string }
);

const CHUNK_BYTES = 1 << 16;

/**
 * The rows of a file: CSV with a header, NDJSON, or a JSON list, which is seen from how it begins; each may be packed with
 * gzip. A row that is none comes with its problem, and reading goes on. An empty file has no rows where its name ends in `.ndjson`.
 *
 * @throws {InputError} when the file cannot be read to its end, or its header is none
 */
export async function* usageRows(path: string, io: Pick<Io, "stdin">): AsyncGenerator<UsageLine> {
  const file = path === "-" ? "standard input" : path;
  const source = await openSource(path, io.stdin);
  try {
    const chunks = chunksOf(source);
    const first = await chunks.next();
    const stream = Readable.from(together(first.done === true ? new Uint8Array() : first.value, chunks));
    const beginning = new TextDecoder().decode(first.value);
    const [start] = /[^\s\uFEFF]/.exec(beginning) ?? [];
    if (start === "[") yield* listed(file, stream);
    else if (start === "{") yield* lineByLine(file, stream);
    else yield* recordByRecord(file, stream, separatorOf(beginning));
  } finally {
    await source.close();
  }
}

async function* chunksOf(source: ByteSource): AsyncGenerator<Uint8Array, undefined> {
  for (;;) {
    const chunk = new Uint8Array(CHUNK_BYTES);
    const length = await source.read(chunk, 0);
    if (length === 0) return undefined;
    yield chunk.subarray(0, length);
  }
}

async function* together(first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  yield* rest;
}

async function* lineByLine(file: string, stream: Readable): AsyncGenerator<UsageLine> {
  let line = 0;
  for await (const text of createInterface({ input: stream, crlfDelay: Infinity })) {
    line++;
    const plain = line === 1 ? text.replace(/^\uFEFF/, "") : text;
    if (plain.trim() !== "") yield rowAt(file, line, () => parseJson(plain));
  }
}

async function* listed(file: string, stream: Readable): AsyncGenerator<UsageLine> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk as Uint8Array);
  const text = new TextDecoder().decode(Buffer.concat(chunks));
  const list = listIn(file, text);
  const lines = itemLines(text);
  for (const [index, item] of list.entries()) yield rowAt(file, lines[index] ?? 1, () => item);
}

/** @throws {InputError} for a text that is no JSON list, with its place */
function listIn(file: string, text: string): readonly unknown[] {
  let list: unknown;
  try {
    list = parseJson(text);
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    const fault = openDocument(text);
    throw new InputError(
      "message" in fault
        ? `${file}:${fault.line}:${fault.column}: not JSON: ${fault.message}`
        : `${file}: ${error.message}`,
    );
  }
  if (Array.isArray(list)) return list as readonly unknown[];
  throw new InputError(`${file}: expected a list of rows {accountId, meterId, date, quantity}`);
}

/** The line on which each item of a JSON list begins. */
function itemLines(text: string): readonly number[] {
  const lines: number[] = [];
  let [line, depth, isBeforeItem] = [1, 0, false];
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[\n[\]{},]|[^\s"[\]{},]+/g)) {
    if (token === "\n") {
      line++;
      continue;
    }
    if (isBeforeItem) lines.push(line);
    if (token === "[" || token === "{") depth++;
    else if (token === "]" || token === "}") depth--;
    isBeforeItem = depth === 1 && (token === "[" || token === ",");
  }
  return lines;
}

async function* recordByRecord(file: string, stream: Readable, delimiter: Separator): AsyncGenerator<UsageLine> {
  const parser = stream.pipe(
    parse({ delimiter, bom: true, skip_empty_lines: true, relax_column_count: true, info: true }),
  );
  let columns: readonly number[] | undefined;
  let width = 0;
  try {
    for await (const each of parser) {
      const { record, info } = each as {
        readonly record: readonly string[];
        readonly info: { readonly lines: number };
      };
      if (columns === undefined) {
        columns = columnsOf(`${file}:${info.lines}`, record);
        width = record.length;
        continue;
      }
      const [accountId, meterId, date, quantity] = columns.map((at) => record[at]);
      yield record.length === width
        ? rowAt(file, info.lines, () => ({ accountId, meterId, date, quantity }))
        : { file, line: info.lines, problem: "the line has another number of columns than the header" };
    }
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (columns === undefined && !isNamedNdjson(file)) throw new InputError(`${file}: the file is empty`);
}

/** Whether an empty file is NDJSON without rows, as `export` writes it, and not CSV without a header. */
function isNamedNdjson(file: string): boolean {
  return /\.(?:ndjson|jsonl)(?:\.gz)?$/i.test(file);
}

/** Where the fields are in a header. @param place of the header, for a sentence */
function columnsOf(place: string, header: readonly string[]): readonly number[] {
  return FIELDS.map((field) => {
    const index = header.indexOf(field);
    if (index >= 0 && index === header.lastIndexOf(field)) return index;
    const shown = header.slice(0, 20).map(quoted).join(", ");
    throw new InputError(
      index >= 0
        ? `${place}: the header has the column ${quoted(field)} more than once`
        : `${place}: expected the columns ${FIELDS.join(", ")}: ${field} is missing from ${shown}${guess(field, header)}`,
    );
  });
}

function guess(field: string, header: readonly string[]): string {
  return hintAt(
    field,
    header.filter((column) => !FIELDS.includes(column)),
  );
}

function rowAt(file: string, line: number, read: () => unknown): UsageLine {
  try {
    const { quantity, ...row } = toUsageRow(readUsageRow(read()));
    return { file, line, row: { ...row, quantity: formatDecimal(quantity) } };
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    return { file, line, problem: error.message };
  }
}
