/**
 * Cuts the lines of a CSV file into rows.
 *
 * @module
 */
import { type CsvError, parse, type Parser } from "csv-parse";

import { LINE_BYTES_MAX, splitLines, NOT_UTF8, decodeUtf8 } from "./byte-lines.ts";
import { InputError } from "./input-error.ts";
import type { Separator } from "./separator.ts";

const LINE_END = 0x0a;
const OTHER_COLUMNS = "the line does not have as many columns as the header";

const CSV_OPTIONS = {
  record_delimiter: ["\r\n", "\n"],
  skip_empty_lines: true,
  relax_column_count: true,
  max_record_size: LINE_BYTES_MAX,
  skip_records_with_error: true,
};

/** A record, or why there is none. */
export type Row =
  | { readonly line: number; readonly record: readonly string[] }
  | { readonly line: number; readonly record?: undefined; readonly reason: string };

/** Makes rows of lines, each at once and in order. */
export interface RowParser {
  /** Parses whole lines, as text: the parser in a browser takes no bytes but its own. A record may go on in the next ones. */
  parse(lines: Uint8Array): Promise<void>;
  /** Counts a line that is not to be parsed. */
  skipLine(reason: string): void;
  /** After the last line. May be called again. */
  end(): Promise<void>;
}

/** A parser of the lines of one file. @param onRow gets each row as soon as it ends */
export function createRowParser(file: string, delimiter: Separator, onRow: (row: Row) => void): RowParser {
  let columns: number | undefined;
  let linesRead = 0;
  /** Lines that the parser in use has not seen. */
  let linesBefore = 0;
  /** The last line of the last record: a record that is too long is reported by the line after it, where it begins. */
  let lastLine = 0;
  let overlongLine: number | undefined;
  /** Lines whose bytes are no UTF-8: what a parser makes of those looks like a text that holds the replacement character. */
  const invalidLines = new Set<number>();

  function reportSkippedRecord(error: CsvError): undefined {
    const { code } = error;
    const line = linesBefore + Number(error["lines"]);
    const isUnclosed = code === "CSV_MAX_RECORD_SIZE" || code === "CSV_QUOTE_NOT_CLOSED";
    onRow({ line: isUnclosed ? lastLine + 1 : line, reason: describeCsvError(error) });
    removeInvalidLines(invalidLines, lastLine + 1, line);
    lastLine = line;
    if (code === "CSV_MAX_RECORD_SIZE") overlongLine = line;
    return undefined;
  }

  const createParser = (): Parser =>
    parse({
      ...CSV_OPTIONS,
      delimiter,
      // Nothing is left to read from the stream: so records and what is skipped come in one order.
      on_record: (record: readonly string[], { lines }) => {
        columns ??= record.length;
        const firstLine = lastLine + 1;
        lastLine = linesBefore + lines;
        const isInvalid = removeInvalidLines(invalidLines, firstLine, lastLine);
        const reason = record.length !== columns ? OTHER_COLUMNS : isInvalid ? NOT_UTF8 : undefined;
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
        // The parser drops what it was given behind a record that is too long: a new one gets it.
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

async function feedParser(file: string, write: (callback: (error?: Error | null) => void) => void): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    write((error) => (error ? reject(new InputError(`${file}: ${error.message}`)) : resolve()));
  });
}

/** The byte after the line end of the line with `before` lines before it. */
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

/** Notes which of some lines are no UTF-8. */
function recordInvalidLines(lines: Uint8Array, first: number, invalidLines: Set<number>): void {
  let number = first;
  for (const line of splitLines(lines)) {
    if (decodeUtf8(line) === undefined) invalidLines.add(number);
    number++;
  }
}

/** Whether one of the lines of a record is broken. They are forgotten: no other record has them. */
function removeInvalidLines(invalidLines: Set<number>, first: number, last: number): boolean {
  let hasInvalidLine = false;
  if (invalidLines.size > 0)
    for (let line = first; line <= last; line++) hasInvalidLine = invalidLines.delete(line) || hasInvalidLine;
  return hasInvalidLine;
}

function describeCsvError(error: CsvError): string {
  switch (error.code) {
    case "CSV_MAX_RECORD_SIZE":
      return "the record is longer than 1 MiB; a closing quote may be missing";
    case "CSV_QUOTE_NOT_CLOSED":
      return "a closing quote is missing";
    case "INVALID_OPENING_QUOTE":
      return "a quote inside an unquoted value";
    case "CSV_INVALID_CLOSING_QUOTE":
      return "text follows a closing quote";
    default:
      return "the line is not valid CSV";
  }
}
