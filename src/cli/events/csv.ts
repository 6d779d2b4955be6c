/**
 * Reads a CSV file of events through a map (book.md, "Event files").
 *
 * @module
 */
import { tryParseInstant } from "../../calendar/instant.ts";
import type { CsvMap } from "../../records/csv-map.ts";
import { createRowParser, type Row, type RowParser } from "../../records/csv-rows.ts";
import type { EventCursor } from "../../records/event-cursor.ts";
import type { EventSink } from "../../records/event-sink.ts";
import { TOO_LONG } from "../../records/lines.ts";
import { type EventRow, rowEvents } from "../../records/row-events.ts";
import { separatorOf } from "../../records/separator.ts";
import type { ByteSource } from "./byte-source.ts";
import { createLineBlocks } from "./line-blocks.ts";

const CHUNK_BYTES = 1 << 16;

/** A cursor over a CSV file. The first record is the header. */
export function createCsvCursor(file: string, source: ByteSource, map: CsvMap, sink: EventSink): EventCursor {
  const records = createRecords(file, source);
  let rows: readonly Row[] = [];
  let next = 0;
  const eventOf = rowEvents(file, map);
  let head: EventRow = { line: 0, reason: "" };
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
        const found = eventOf(row);
        if (found === undefined) continue;
        head = found;
        at = head.event === undefined ? undefined : tryParseInstant(head.event.timestamp);
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
