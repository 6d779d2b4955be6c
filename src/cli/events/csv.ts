/**
 * Reads a CSV file of events through a map (book.md, "Event files").
 *
 * @module
 */
import { isUtf8 } from "node:buffer";

import { type CsvError, parse, type Parser } from "csv-parse";

import { hintAt } from "../../book/nearest.ts";
import { instantOrUndefined } from "../../calendar/instant.ts";
import { CARRIAGE_RETURNS, InputError, NOT_UTF8, quoted, TOO_LONG } from "../problems.ts";
import type { ByteSource } from "./byte-source.ts";
import type { ColumnReader, CsvMap } from "./csv-map.ts";
import type { EventCursor } from "./cursor.ts";
import type { EventSink } from "./event-sink.ts";
import { createLineBlocks, LINE_BYTES_MAX } from "./line-blocks.ts";
import { type EventMaker, eventMaker } from "./mapped-event.ts";
import { type Separator, separatorOf } from "./separator.ts";

const CHUNK_BYTES = 1 << 16;
const LINE_END = 0x0a;
const OTHER_COLUMNS = "the line has another number of columns than the header";

const CSV_OPTIONS = {
  record_delimiter: ["\r\n", "\n"],
  skip_empty_lines: true,
  relax_column_count: true,
  max_record_size: LINE_BYTES_MAX,
  skip_records_with_error: true,
};

/** A record, or why there is none. */
type Row =
  | { readonly line: number; readonly record: readonly string[] }
  | { readonly line: number; readonly record?: undefined; readonly reason: string };

/** A cursor over a CSV file. The first record is the header. */
export function createCsvCursor(file: string, source: ByteSource, map: CsvMap, sink: EventSink): EventCursor {
  const records = createRecords(file, source);
  let rows: readonly Row[] = [];
  let next = 0;
  let makeEvent: EventMaker<readonly string[]> | undefined;
  let rowNumber = 0;
  let head: { readonly line: number; readonly event?: unknown; readonly reason?: string } = { line: 0 };
  let at: number | undefined;

  return {
    file,
    get line() {
      return head.line;
    },
    get at() {
      return at;
    },
    advance() {
      for (;;) {
        const row = rows[next];
        if (row === undefined) return false;
        next++;
        if (makeEvent === undefined) {
          if (row.record === undefined) {
            throw new InputError(`${file}:${row.line}: expected a header: ${row.reason}`);
          }
          makeEvent = eventMaker(map, columnReader(row.record, file));
          continue;
        }
        rowNumber++;
        at = undefined;
        if (row.record === undefined) {
          head = { line: row.line, reason: row.reason };
        } else {
          const event = makeEvent(row.record, rowNumber);
          if (typeof event === "string") {
            head = { line: row.line, reason: event };
          } else {
            at = instantOrUndefined(event.timestamp);
            head = { line: row.line, event };
          }
        }
        return true;
      }
    },
    async fill() {
      next = 0;
      rows = await records.next();
      return rows.length > 0;
    },
    take() {
      const { line, event, reason } = head;
      return reason === undefined ? sink.event(file, line, event) : sink.badLine(file, line, reason);
    },
    close: async () => source.close(),
  };
}

/** Batches of rows, in the order of the file; an empty one is the end. */
function createRecords(file: string, source: ByteSource): { next(): Promise<readonly Row[]> } {
  const blocks = createLineBlocks(source, CHUNK_BYTES);
  let rows: Row[] = [];
  let parser: RowParser | undefined;
  const openParser = (beginning: string): RowParser =>
    createRowParser(file, separatorOf(beginning), (row) => {
      rows.push(row);
    });
  return {
    async next() {
      rows = [];
      for (let found = await blocks.next(); ; found = await blocks.next()) {
        if (found === "oversized") (parser ??= openParser("")).passOver(TOO_LONG);
        // A copy, because the parser may keep the last bytes, and the buffer of the blocks is used again.
        if (found === "lines") {
          const lines = Buffer.from(blocks.bytes.subarray(blocks.start, blocks.end));
          await (parser ??= openParser(lines.toString("utf8"))).parse(lines);
        }
        if (found === "end") await parser?.end();
        if (found === "end" || rows.length > 0) return rows;
      }
    },
  };
}

/** Makes rows of lines, each at once and in order. */
interface RowParser {
  /** Parses whole lines; a record may go on in the next ones. */
  parse(lines: Buffer): Promise<void>;
  /** Counts a line that is not to be parsed. */
  passOver(reason: string): void;
  /** After the last line. May be called again. */
  end(): Promise<void>;
}

function createRowParser(file: string, delimiter: Separator, tell: (row: Row) => void): RowParser {
  let columns: number | undefined;
  let linesRead = 0;
  /** Lines that the parser in use has not seen. */
  let linesBefore = 0;
  /** The last line of the last record: a record that is too long is reported by the line after it, where it begins. */
  let lastLine = 0;
  let overflowed: number | undefined;
  /** Lines whose bytes are no UTF-8: what a parser makes of those looks like a text that holds the replacement character. */
  const brokenLines = new Set<number>();

  function skipped(error: CsvError): undefined {
    const { code } = error;
    const line = linesBefore + Number(error["lines"]);
    const unclosed = code === "CSV_MAX_RECORD_SIZE" || code === "CSV_QUOTE_NOT_CLOSED";
    tell({ line: unclosed ? lastLine + 1 : line, reason: reasonOfRecord(error) });
    takeBroken(brokenLines, lastLine + 1, line);
    lastLine = line;
    if (code === "CSV_MAX_RECORD_SIZE") overflowed = line;
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
        const isBroken = takeBroken(brokenLines, firstLine, lastLine);
        const reason = record.length !== columns ? OTHER_COLUMNS : isBroken ? NOT_UTF8 : undefined;
        tell(reason === undefined ? { line: lastLine, record } : { line: lastLine, reason });
        return undefined;
      },
      on_skip: (error) => (error === undefined ? undefined : skipped(error)),
    }).resume();
  let parser = createParser();

  return {
    async parse(lines) {
      for (let left = lines; left.length > 0;) {
        overflowed = undefined;
        const first = linesRead + 1;
        const given = left;
        if (!isUtf8(given)) noteBroken(given, first, brokenLines);
        await toParser(file, (done) => parser.write(given, done));
        const end = overflowed === undefined ? left.length : endOfLine(left, overflowed - first);
        linesRead += countLines(left.subarray(0, end));
        left = left.subarray(end);
        if (overflowed === undefined) return;
        // The parser drops what it was given behind a record that is too long: a new one gets it.
        linesBefore = linesRead;
        parser = createParser();
      }
    },
    passOver(reason) {
      linesRead++;
      linesBefore++;
      lastLine = linesRead;
      tell({ line: linesRead, reason });
    },
    async end() {
      if (!parser.writableEnded) await toParser(file, (done) => parser.end(done));
    },
  };
}

async function toParser(file: string, give: (done: (error?: Error | null) => void) => void): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    give((error) => (error ? reject(new InputError(`${file}: ${error.message}`)) : resolve()));
  });
}

/** The byte after the line end of the line with `before` lines before it. */
function endOfLine(lines: Buffer, before: number): number {
  let end = 0;
  for (let line = 0; line <= before && end < lines.length; line++)
    end = lines.indexOf(LINE_END, end) + 1 || lines.length;
  return end;
}

function countLines(lines: Buffer): number {
  let count = 0;
  for (let at = lines.indexOf(LINE_END); at >= 0; at = lines.indexOf(LINE_END, at + 1)) count++;
  return count;
}

/** Notes which of some lines are no UTF-8. */
function noteBroken(lines: Buffer, first: number, broken: Set<number>): void {
  let line = first;
  for (let start = 0; start < lines.length; line++) {
    const end = lines.indexOf(LINE_END, start) + 1 || lines.length;
    if (!isUtf8(lines.subarray(start, end))) broken.add(line);
    start = end;
  }
}

/** Whether one of the lines of a record is broken. They are forgotten: no other record has them. */
function takeBroken(broken: Set<number>, first: number, last: number): boolean {
  let found = false;
  if (broken.size > 0) for (let line = first; line <= last; line++) found = broken.delete(line) || found;
  return found;
}

function reasonOfRecord(error: CsvError): string {
  switch (error.code) {
    case "CSV_MAX_RECORD_SIZE":
      return "the record is longer than 1 MiB: is a quote opened and never closed?";
    case "CSV_QUOTE_NOT_CLOSED":
      return "a quote is opened and never closed";
    case "INVALID_OPENING_QUOTE":
      return "a quote stands inside a value that does not begin with one";
    case "CSV_INVALID_CLOSING_QUOTE":
      return "text follows a closing quote";
    default:
      return "the line is not CSV";
  }
}

/** The columns of a header. */
function columnReader(header: readonly string[], file: string): ColumnReader<readonly string[]> {
  if (header.some((name) => name.includes("\r"))) throw new InputError(`${file}: ${CARRIAGE_RETURNS}`);
  return (name) => {
    const index = header.indexOf(name);
    if (index !== header.lastIndexOf(name)) {
      throw new InputError(`${file}: the map names the column ${quoted(name)}, and the header has it more than once`);
    }
    if (index >= 0) return (record) => record[index] ?? "";
    const columns = header.map((column) => quoted(column)).slice(0, 20);
    throw new InputError(
      `${file}: the map names the column ${quoted(name)}, and the header has ${columns.join(", ")}${hintAt(name, header)}`,
    );
  };
}
