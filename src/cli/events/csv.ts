/**
 * Reads a CSV file of events through a map (book.md, "Event files").
 *
 * @module
 */
import { type CsvError, type Info, parse, type Parser } from "csv-parse";

import { formatInstant, instantOrUndefined, parseZone } from "../../calendar/instant.ts";
import { InputError, NOT_UTF8, TOO_LONG } from "../problems.ts";
import type { ByteSource } from "./byte-source.ts";
import { bindOrigin, type CsvMap, type OriginReader } from "./csv-map.ts";
import type { EventCursor } from "./cursor.ts";
import type { EventSink } from "./event-sink.ts";
import { LINE_BYTES_MAX } from "./line-blocks.ts";

const CHUNK_BYTES = 1 << 16;

/** A record, or why there is none. */
interface Row {
  readonly line: number;
  readonly record?: readonly string[];
  readonly reason?: string;
}

/** Makes an event of a record. */
type EventMaker = (record: readonly string[], row: number) => { readonly timestamp: string };

/** A cursor over a CSV file. The first record is the header. */
export function createCsvCursor(file: string, source: ByteSource, map: CsvMap, sink: EventSink): EventCursor {
  const records = createRecords(file, source);
  let rows: readonly Row[] = [];
  let next = 0;
  let makeEvent: EventMaker | undefined;
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
        if (makeEvent === undefined && row.record !== undefined) {
          makeEvent = bindMap(map, row.record, file);
          continue;
        }
        rowNumber++;
        at = undefined;
        if (row.record === undefined || makeEvent === undefined) {
          head = { line: row.line, reason: row.reason ?? "no header comes before this line" };
        } else {
          const event = makeEvent(row.record, rowNumber);
          at = instantOrUndefined(event.timestamp);
          head = { line: row.line, event };
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

/** Batches of records; an empty one is the end. */
function createRecords(file: string, source: ByteSource): { next(): Promise<readonly Row[]> } {
  let rows: Row[] = [];
  const parser: Parser = parse({
    bom: true,
    info: true,
    skip_empty_lines: true,
    relax_column_count: false,
    max_record_size: LINE_BYTES_MAX,
    skip_records_with_error: true,
    on_skip: (error) => {
      if (error !== undefined) rows.push({ line: Number(error["lines"]), reason: reasonOfRecord(error) });
      return undefined;
    },
  });
  let failure: Error | undefined;
  parser.on("error", (error) => {
    failure = error;
  });
  parser.on("readable", () => {
    for (let found = parser.read() as Found | null; found !== null; found = parser.read() as Found | null) {
      const { record, info } = found;
      // csv-parse puts the replacement character where bytes are no UTF-8.
      if (record.some((value) => value.includes("\uFFFD"))) rows.push({ line: info.lines, reason: NOT_UTF8 });
      else rows.push({ line: info.lines, record });
    }
  });
  const ended = new Promise<void>((resolve) => {
    parser.once("end", resolve);
    parser.once("close", resolve);
    parser.once("error", () => resolve());
  });
  let done = false;

  return {
    async next() {
      rows = [];
      while (rows.length === 0 && !done) {
        const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
        const count = await source.read(chunk, 0);
        if (count === 0) {
          parser.end();
          await ended;
          done = true;
        } else {
          await new Promise<void>((resolve) => {
            parser.write(chunk.subarray(0, count), () => resolve());
          });
        }
        if (failure !== undefined) throw new InputError(`${file}: ${failure.message}`);
      }
      return rows;
    },
  };
}

interface Found {
  readonly info: Info;
  readonly record: readonly string[];
}

function reasonOfRecord(error: CsvError): string {
  switch (error.code) {
    case "CSV_RECORD_INCONSISTENT_FIELDS_LENGTH":
    case "CSV_RECORD_INCONSISTENT_COLUMNS":
      return "the line has another number of columns than the header";
    case "CSV_MAX_RECORD_SIZE":
      return TOO_LONG;
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

function bindMap(map: CsvMap, header: readonly string[], file: string): EventMaker {
  const bind = (origin: Parameters<typeof bindOrigin>[0]): OriginReader => bindOrigin(origin, header, file);
  const schemaName = bind(map.schemaName);
  const accountId = bind(map.accountId);
  const id = bind(map.id);
  const timestamp = bind(map.timestamp);
  const zone = map.timestamp.zone === undefined ? undefined : parseZone(map.timestamp.zone);
  const attributes = Object.entries(map.attributes).map(([name, origin]) => ({ name, read: bind(origin) }));
  const dimensions = Object.entries(map.dimensions).map(([name, origin]) => ({ name, read: bind(origin) }));
  return (record, row) => ({
    schemaName: schemaName(record, row),
    id: id(record, row),
    timestamp: zonedTimestamp(timestamp(record, row), zone),
    accountId: accountId(record, row),
    attributes: attributes.map(({ name, read }) => ({ name, value: read(record, row) })),
    dimensions: Object.fromEntries(dimensions.map(({ name, read }) => [name, read(record, row)])),
  });
}

/** The timestamp in the form of an event; a text that is none is left as it is, for metering to refuse. */
function zonedTimestamp(text: string, zoneMinutes: number | undefined): string {
  const instant = instantOrUndefined(text, zoneMinutes);
  return instant === undefined ? text : formatInstant(instant);
}
