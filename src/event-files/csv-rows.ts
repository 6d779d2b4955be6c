/** Parses CSV lines into rows, of which the first is the header, and rows into events. */
import { type CsvError, parse, type Parser } from "csv-parse";

import { didYouMean } from "../book/problems.ts";
import { createProblem, type Problem, quoteText } from "../problem-table.ts";
import {
  type ColumnReader,
  type EventFileMap,
  type EventMaker,
  type EventMakerOptions,
  createEventMaker,
} from "./event-file-map.ts";
import { LINE_BYTES_MAX, splitLines, NOT_UTF8, decodeUtf8, CARRIAGE_RETURNS, InputError } from "./input-error.ts";

const LINE_END = 0x0a;
const WRONG_COLUMN_COUNT = createProblem("$", "WRONG_COLUMN_COUNT", {
  reason: "the line and the header have different numbers of columns",
});
const CSV_REASONS: Readonly<Record<string, string>> = {
  CSV_MAX_RECORD_SIZE: "the row is longer than 1 MiB; check for a missing closing quote",
  CSV_QUOTE_NOT_CLOSED: "a closing quote is missing",
  INVALID_OPENING_QUOTE: "an unquoted value contains a quote",
  CSV_INVALID_CLOSING_QUOTE: "a closing quote is followed by text; expected a separator or the end of the line",
};

const CSV_OPTIONS = {
  record_delimiter: ["\r\n", "\n"],
  skip_empty_lines: true,
  relax_column_count: true,
  max_record_size: LINE_BYTES_MAX,
  skip_records_with_error: true,
};

/** A row, or the reason why it can't be read. */
export type Row =
  | { readonly line: number; readonly record: readonly string[] }
  | { readonly line: number; readonly record?: undefined; readonly reason: Problem };

/** Parses lines into rows, immediately and in order. */
export interface RowParser {
  /** Parses whole lines. A record may continue in the next ones. */
  parse(lines: Uint8Array): Promise<void>;
  /** Counts a line that is not parsed. */
  skipLine(reason: Problem): void;
  /** Ends parsing after the last line. Can be called again. */
  end(): Promise<void>;
}

/** Creates a parser for the lines of one file. @param onRow receives each row as soon as it is complete */
export function createRowParser(file: string, delimiter: Separator, onRow: (row: Row) => void): RowParser {
  let columns: number | undefined;
  let linesRead = 0;
  /** Lines parsed before the current parser was created. */
  let linesBefore = 0;
  /** The last line of the last record. The parser reports a record that is too long one line late. */
  let lastLine = 0;
  let overlongLine: number | undefined;
  /**
   * Lines that aren't valid UTF-8. The parsed text can't tell, because it may really contain the replacement character.
   */
  const invalidLines = new Set<number>();

  function reportSkippedRecord(error: CsvError): undefined {
    const { code } = error;
    const line = linesBefore + Number(error["lines"]);
    const isUnclosed = code === "CSV_MAX_RECORD_SIZE" || code === "CSV_QUOTE_NOT_CLOSED";
    onRow({ line: isUnclosed ? lastLine + 1 : line, reason: toProblem(error) });
    removeInvalidLines(invalidLines, lastLine + 1, line);
    lastLine = line;
    if (code === "CSV_MAX_RECORD_SIZE") overlongLine = line;
    return undefined;
  }

  const createParser = (): Parser =>
    parse({
      ...CSV_OPTIONS,
      delimiter,
      // Rows are taken here, not from the stream, so that rows and skipped lines arrive in order.
      on_record: (record: readonly string[], { lines }) => {
        columns ??= record.length;
        const firstLine = lastLine + 1;
        lastLine = linesBefore + lines;
        const isInvalid = removeInvalidLines(invalidLines, firstLine, lastLine);
        const reason = record.length !== columns ? WRONG_COLUMN_COUNT : isInvalid ? NOT_UTF8 : undefined;
        onRow(reason === undefined ? { line: lastLine, record } : { line: lastLine, reason });
        return undefined;
      },
      on_skip: (error) => (error === undefined ? undefined : reportSkippedRecord(error)),
    }).resume();
  let parser = createParser();

  return {
    async parse(lines) {
      for (let rest = lines; rest.length > 0;) {
        overlongLine = undefined;
        const text = decodeUtf8(rest);
        const textToParse = text ?? new TextDecoder().decode(rest);
        if (text === undefined) recordInvalidLines(rest, linesRead + 1, invalidLines);
        await feedParser(file, (callback) => parser.write(textToParse, callback));
        const end = overlongLine === undefined ? rest.length : endOfLine(rest, overlongLine - linesRead - 1);
        linesRead += countLines(rest.subarray(0, end));
        rest = rest.subarray(end);
        if (overlongLine === undefined) return;
        // After a record that is too long the parser drops the rest of its input, so a new parser gets it.
        linesBefore = linesRead;
        parser = createParser();
      }
    },
    skipLine(reason) {
      linesRead++;
      linesBefore++;
      lastLine = linesRead;
      onRow({ line: linesRead, reason });
    },
    async end() {
      if (!parser.writableEnded) await feedParser(file, (callback) => parser.end(callback));
    },
  };
}

/** Reads all rows of a text. */
export async function readCsvRows(file: string, text: string): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const content = text.replace(/^\uFEFF/, "").replace(/\n?$/, "\n");
  const parser = createRowParser(file, detectSeparator(content), (row) => rows.push(row));
  await parser.parse(new TextEncoder().encode(content));
  await parser.end();
  return rows;
}

/** @throws {InputError} for a row that can't be read */
export function requireRecord(file: string, row: Row): Extract<Row, { readonly record: readonly string[] }> {
  if (row.record === undefined) throw new InputError(`${file}:${row.line}: ${row.reason.message}`);
  return row;
}

async function feedParser(file: string, write: (callback: (error?: Error | null) => void) => void): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    write((error) => (error ? reject(new InputError(`${file}: ${error.message}`)) : resolve()));
  });
}

/** The offset after the line end that follows `before` earlier lines. */
function endOfLine(lines: Uint8Array, before: number): number {
  let end = 0;
  for (let line = 0; line <= before && end < lines.length; line++)
    end = lines.indexOf(LINE_END, end) + 1 || lines.length;
  return end;
}

function countLines(lines: Uint8Array): number {
  let count = 0;
  for (let at = lines.indexOf(LINE_END); at >= 0; at = lines.indexOf(LINE_END, at + 1)) count++;
  return count;
}

function recordInvalidLines(lines: Uint8Array, first: number, invalidLines: Set<number>): void {
  let number = first;
  for (const line of splitLines(lines)) {
    if (decodeUtf8(line) === undefined) invalidLines.add(number);
    number++;
  }
}

/** Whether a record has an invalid line. Removes its lines from the set. */
function removeInvalidLines(invalidLines: Set<number>, first: number, last: number): boolean {
  let hasInvalidLine = false;
  if (invalidLines.size > 0)
    for (let line = first; line <= last; line++) hasInvalidLine = invalidLines.delete(line) || hasInvalidLine;
  return hasInvalidLine;
}

/** Why a text is not CSV. */
export function describeCsvError(error: unknown): string {
  const { code } = error as Partial<CsvError>;
  return CSV_REASONS[code ?? ""] ?? "the line is not valid CSV";
}

function toProblem(error: CsvError): Problem {
  return createProblem("$", "INVALID_CSV", { reason: describeCsvError(error) });
}

export type Separator = "," | ";" | "\t" | "|";

/**
 * Detects the separator in the first line that isn't empty: a comma if it has one outside quotes, otherwise a
 * semicolon, tab or bar. With none of them, the file has one column and the separator is a comma.
 */
export function detectSeparator(beginning: string): Separator {
  const header = /^.*\S.*$/m.exec(beginning)?.[0] ?? "";
  const withoutQuotes = header.replace(/"(?:[^"]|"")*"/g, "");
  const separators: readonly Separator[] = [",", ";", "\t", "|"];
  return separators.find((separator) => withoutQuotes.includes(separator)) ?? ",";
}

/** An event and its line, or the reason why the line has none. */
export type EventRow =
  | { readonly line: number; readonly event: { readonly timestamp: string }; readonly reason?: undefined }
  | { readonly line: number; readonly event?: undefined; readonly reason: Problem };

/**
 * Creates a reader for the rows of one file, in order. It returns undefined for the header.
 *
 * @throws {InputError} for an invalid header, or one that lacks a mapped column
 */
export function createRowEventReader(
  file: string,
  map: EventFileMap,
  options: EventMakerOptions<readonly string[]>,
): (row: Row) => EventRow | undefined {
  let makeEvent: EventMaker<readonly string[]> | undefined;
  let rowNumber = 0;
  return (row) => {
    const { line, record } = row;
    if (makeEvent === undefined) {
      if (record === undefined) throw new InputError(`${file}:${line}: expected a header: ${row.reason.message}`);
      makeEvent = createEventMaker(map, createColumnReader(record, file), options);
      return undefined;
    }
    rowNumber++;
    if (record === undefined) return { line, reason: row.reason };
    const event = makeEvent(record, rowNumber);
    return "code" in event ? { line, reason: event } : { line, event };
  };
}

function createColumnReader(header: readonly string[], file: string): ColumnReader<readonly string[]> {
  if (header.some((name) => name.includes("\r"))) throw new InputError(`${file}: ${CARRIAGE_RETURNS}`);
  return (name) => {
    const index = header.indexOf(name);
    if (index !== header.lastIndexOf(name)) {
      throw new InputError(`${file}: the map uses the column ${quoteText(name)}, but the header has it twice`);
    }
    if (index >= 0) return (record) => record[index] ?? "";
    const columns = header.map((column) => quoteText(column)).slice(0, 20);
    throw new InputError(
      `${file}: the map uses the column ${quoteText(name)}, but the header has ${columns.join(", ")}${didYouMean(name, header)}`,
    );
  };
}
