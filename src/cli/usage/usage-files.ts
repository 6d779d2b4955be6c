/** Files of usage by account, meter and day: read row by row, and written. */
import type { Writable } from "node:stream";

import { didYouMean } from "../../book/problems.ts";
import type { Book } from "../../book/resources/book.ts";
import { listUsageDimensions } from "../../book/resources/event-schema.ts";
import { formatDate, instantOfDay } from "../../calendar/instant.ts";
import { RatebookError, hasCode } from "../../errors.ts";
import { requireRecord } from "../../event-files/csv-rows.ts";
import { decodeUtf8, InputError, NOT_UTF8, splitLines, TOO_LONG } from "../../event-files/input-error.ts";
import { groupThousands } from "../../invoicing/invoice-rows.ts";
import { isRowFault } from "../../ledger/preview/summed-usage.ts";
import { type NamedGroup, readUsageRow, USAGE_FIELDS, type UsageRow } from "../../metering/usage-rows.ts";
import { formatDecimal } from "../../numbers/decimal.ts";
import { parseJson } from "../../numbers/json.ts";
import { toPrintable } from "../../pages/printable.ts";
import { quoteText } from "../../problem-table.ts";
import { parseJsonText } from "../documents/read-documents.ts";
import { copyChunks, openByteSource, prependChunk } from "../event-inputs/byte-source.ts";
import { readRowBatches } from "../event-inputs/csv-cursor.ts";
import { readLineBlocks } from "../event-inputs/line-blocks.ts";
import { type Io, write } from "../io.ts";

/** The usage of a meter by an account on a day. Rows with the same account, meter and day are summed. */
export interface UsageRowTexts {
  readonly accountId: string;
  readonly meterId: string;
  /** A UTC day, such as `2026-01-31`. */
  readonly date: string;
  /** An exact decimal as plain text; can be negative (S5.2). */
  readonly quantity: string;
  /** The texts of its group by dimension; absent for a meter without groups. */
  readonly group?: NamedGroup;
}

/** A row with its file and line, or why it is invalid. */
export type UsageLine = { readonly file: string; readonly line: number } & (
  | { readonly row: UsageRowTexts; readonly problem?: undefined }
  | { readonly row?: undefined; readonly problem: string }
);

/** The beginning of the names of columns with the texts of groups. */
const GROUP_PREFIX = "group.";

/**
 * Reads the rows of a file: CSV with a header, NDJSON or a JSON list, detected from its start; each may be gzipped. An
 * invalid row is returned with its problem, and reading continues. An empty file is valid if its name ends with
 * `.ndjson`.
 *
 * @throws {InputError} if the file can't be read completely, or its header is invalid
 */
export async function* readUsageLines(path: string, io: Pick<Io, "stdin">): AsyncGenerator<UsageLine> {
  const file = path === "-" ? "standard input" : path;
  const source = await openByteSource(path, io.stdin);
  try {
    const { value: first = Buffer.alloc(0) } = await source.chunks.next();
    const [start] = /[^\s\uFEFF]/.exec(first.toString()) ?? [];
    const chunks = prependChunk(first, source.chunks);
    if (start === "[") yield* readListLines(file, chunks);
    else if (start === "{") yield* readNdjsonLines(file, chunks);
    else yield* readCsvLines(file, chunks);
  } finally {
    await source.close();
  }
}

/** Reads the rows of a file. @throws {InputError} as {@link readUsageLines}, and for an invalid row */
export async function* readUsageRows(path: string, io: Pick<Io, "stdin">): AsyncGenerator<UsageRowTexts> {
  for await (const { file, line, row, problem } of readUsageLines(path, io)) {
    if (row === undefined) throw new InputError(`${file}:${line}: ${problem}`);
    yield row;
  }
}

async function* readNdjsonLines(file: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<UsageLine> {
  let line = 0;
  for await (const block of readLineBlocks(chunks)) {
    for (const bytes of block === "oversized" ? [undefined] : splitLines(block)) {
      line++;
      const text = bytes && decodeUtf8(bytes);
      if (text === undefined) yield { file, line, problem: (bytes ? NOT_UTF8 : TOO_LONG).message };
      else if (text.trim() !== "") yield toUsageLine(file, line, () => parseJson(text));
    }
  }
}

async function* readListLines(file: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<UsageLine> {
  const copies: Buffer[] = [];
  for await (const chunk of copyChunks(chunks)) copies.push(chunk);
  const text = new TextDecoder().decode(Buffer.concat(copies));
  const list = parseList(file, text);
  const lines = findItemLines(text);
  for (const [index, item] of list.entries()) yield toUsageLine(file, lines[index] ?? 1, () => item);
}

/** @throws {InputError} for text that isn't a JSON list, with its place */
function parseList(file: string, text: string): readonly unknown[] {
  let list: unknown;
  try {
    list = parseJson(text);
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    parseJsonText(file, text);
    throw new InputError(`${file}: ${error.message}`);
  }
  if (Array.isArray(list)) return list as readonly unknown[];
  throw new InputError(`${file}: expected a list of rows {accountId, meterId, date, quantity}`);
}

/** The lines on which the items of a JSON list start. */
function findItemLines(text: string): readonly number[] {
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

async function* readCsvLines(file: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<UsageLine> {
  let readRow: ((record: readonly string[]) => object) | undefined;
  for await (const rows of readRowBatches(file, chunks))
    for (const row of rows) {
      const { line } = row;
      if (readRow === undefined) readRow = createRowReader(`${file}:${line}`, requireRecord(file, row).record);
      else if (row.record === undefined) yield { file, line, problem: row.reason.message };
      else {
        const value = readRow(row.record);
        yield toUsageLine(file, line, () => value);
      }
    }
  if (readRow === undefined && !hasNdjsonExtension(file)) throw new InputError(`${file}: the file is empty`);
}

/** Whether an empty file is NDJSON without rows, as `export` writes it, rather than CSV without a header. */
function hasNdjsonExtension(file: string): boolean {
  return /\.(?:ndjson|jsonl)(?:\.gz)?$/i.test(file);
}

/** Reads the fields and the group of a line. @param headerPlace the header's place, for messages */
function createRowReader(headerPlace: string, header: readonly string[]): (record: readonly string[]) => object {
  const columns = USAGE_FIELDS.map((field) => [field, findColumn(headerPlace, header, field)] as const);
  const groupColumns = header.flatMap((name, column) =>
    name.startsWith(GROUP_PREFIX) ? [[name.slice(GROUP_PREFIX.length), column] as const] : [],
  );
  return (record) => {
    // The columns of dimensions that the meter of a line does not have are empty.
    const group = groupColumns.filter(([, column]) => record[column] !== "");
    const readColumns = (list: readonly (readonly [string, number])[]): object =>
      Object.fromEntries(list.map(([name, column]) => [name, record[column]]));
    return { ...readColumns(columns), ...(group.length > 0 && { group: readColumns(group) }) };
  };
}

function findColumn(headerPlace: string, header: readonly string[], field: string): number {
  const index = header.indexOf(field);
  if (index >= 0 && index === header.lastIndexOf(field)) return index;
  const headerText = header.slice(0, 20).map(quoteText).join(", ");
  throw new InputError(
    index >= 0
      ? `${headerPlace}: the header has the column ${quoteText(field)} more than once`
      : `${headerPlace}: expected the columns ${USAGE_FIELDS.join(", ")}: ${field} is missing from ${headerText}${suggestColumn(field, header)}`,
  );
}

function suggestColumn(field: string, header: readonly string[]): string {
  return didYouMean(
    field,
    header.filter((column) => !USAGE_FIELDS.includes(column)),
  );
}

function toUsageLine(file: string, line: number, readValue: () => unknown): UsageLine {
  try {
    const { accountId, meterId, day, quantity, group } = readUsageRow(readValue());
    const row = { accountId, meterId, date: formatDate(instantOfDay(day)), quantity: formatDecimal(quantity) };
    return { file, line, row: { ...row, ...(group && { group }) } };
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    return { file, line, problem: error.message };
  }
}

/** The maximum number of row problems listed. */
const PROBLEMS_SHOWN_MAX = 20;

/**
 * Passes each row to `addRow`, which throws if it can't be used.
 *
 * @returns the number of rows
 * @throws {InputError} if a file can't be read completely or a row is invalid, after the invalid rows are printed to
 * standard error with file and line. The caller must then discard the rows added before
 */
export async function readUsageFiles(
  paths: readonly string[],
  addRow: (row: UsageRowTexts) => void,
  io: Pick<Io, "stdin" | "stderr">,
): Promise<number> {
  let [rowCount, invalidCount] = [0, 0];
  for (const path of paths) {
    const rowsBefore = rowCount;
    for await (const { file, line, row, problem } of readUsageLines(path, io)) {
      rowCount++;
      const fault = row === undefined ? problem : tryRow(addRow, row);
      if (fault === undefined) continue;
      invalidCount++;
      if (invalidCount <= PROBLEMS_SHOWN_MAX) await write(io.stderr, `${toPrintable(`${file}:${line}: ${fault}`)}\n`);
    }
    if (rowCount === rowsBefore) await write(io.stderr, `${toPrintable(`note: ${path}: no usage rows`)}\n`);
  }
  if (invalidCount === 0) return rowCount;
  if (invalidCount > PROBLEMS_SHOWN_MAX)
    await write(io.stderr, `… and ${groupThousands(String(invalidCount - PROBLEMS_SHOWN_MAX))} more\n`);
  throw new InputError(
    `${groupThousands(String(invalidCount))} of ${groupThousands(String(rowCount))} usage rows ${invalidCount === 1 ? "is" : "are"} invalid; nothing was priced`,
  );
}

function tryRow(addRow: (row: UsageRowTexts) => void, row: UsageRowTexts): string | undefined {
  try {
    addRow(row);
    return undefined;
  } catch (error) {
    if (!(error instanceof RatebookError) || !isRowFault(error)) throw error;
    const cell = `the cell of ${row.accountId}, ${row.meterId} on ${row.date}`;
    return hasCode(error, "ERR_ARITHMETIC") ? `${cell}: ${error.message}` : error.message;
  }
}

/** The formats; the first is the default. */
export const USAGE_FORMATS = ["ndjson", "csv", "json"] as const;
type UsageFormat = (typeof USAGE_FORMATS)[number];

/** The buffer size in characters, because a write for each row is slow. */
const BUFFER_CHARACTERS = 65_536;

/**
 * Writes rows with exact quantities.
 *
 * @param book its meters' groups and keys are columns of CSV
 * @returns the number of rows
 */
export async function writeUsage(
  rows: AsyncIterable<UsageRow> | Iterable<UsageRow>,
  format: UsageFormat,
  stream: Writable,
  { usageMeters }: Pick<Book, "usageMeters">,
): Promise<number> {
  const dimensions = [...new Set(usageMeters.flatMap(listUsageDimensions))];
  const columns = [...USAGE_FIELDS, ...dimensions.map((dimension) => `${GROUP_PREFIX}${dimension}`)];
  let count = 0;
  let text = format === "csv" ? `${columns.map(escapeCsvField).join(",")}\n` : format === "json" ? "[" : "";
  for await (const { accountId, meterId, date, quantity, group } of rows) {
    const row = { accountId, meterId, date, quantity: formatDecimal(quantity), ...(group && { group }) };
    text += formatRow(row, format, dimensions, count === 0);
    count++;
    if (text.length < BUFFER_CHARACTERS) continue;
    await write(stream, text);
    text = "";
  }
  await write(stream, format === "json" ? `${text}\n]\n` : text);
  return count;
}

function formatRow(row: UsageRowTexts, format: UsageFormat, dimensions: readonly string[], isFirst: boolean): string {
  switch (format) {
    case "ndjson":
      return `${JSON.stringify(row)}\n`;
    case "csv":
      return `${[
        row.accountId,
        row.meterId,
        row.date,
        row.quantity,
        ...dimensions.map((dimension) => row.group?.[dimension] ?? ""),
      ]
        .map(escapeCsvField)
        .join(",")}\n`;
    case "json":
      return `${isFirst ? "" : ","}\n  ${JSON.stringify(row)}`;
  }
}

/**
 * Escapes a field so that it is read back unchanged: without an apostrophe against formulas, which would change ids.
 */
function escapeCsvField(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
