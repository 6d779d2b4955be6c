/** Reads CSV files of events through a map (book.md, "Event files"). */
import { tryParseInstant } from "../../calendar/instant.ts";
import {
  createRowParser,
  type Row,
  type RowParser,
  type EventRow,
  createRowEventReader,
  detectSeparator,
} from "../../event-files/csv-rows.ts";
import type { EventFileMap, EventMakerOptions } from "../../event-files/event-file-map.ts";
import { TOO_LONG } from "../../event-files/input-error.ts";
import type { EventSink, EventCursor } from "../../event-files/merge-events.ts";
import type { ByteSource } from "./byte-source.ts";
import { createLineBlocks } from "./line-blocks.ts";

const CHUNK_BYTES = 1 << 16;

/** How the rows of a file become events. */
export interface RowEventOptions extends EventMakerOptions<readonly string[]> {
  readonly map: EventFileMap;
}

/** A cursor over a CSV file, whose first record is the header. */
export function createCsvCursor(
  file: string,
  source: ByteSource,
  sink: EventSink,
  { map, ...options }: RowEventOptions,
): EventCursor {
  const rowReader = createRowReader(file, source);
  let rows: readonly Row[] = [];
  let next = 0;
  const toRowEvent = createRowEventReader(file, map, options);
  let head: EventRow = { line: 0, event: { timestamp: "" } };
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
        const rowEvent = toRowEvent(row);
        if (rowEvent === undefined) continue;
        head = rowEvent;
        at = head.event === undefined ? undefined : tryParseInstant(head.event.timestamp);
        return true;
      }
    },
    async fill() {
      next = 0;
      rows = await rowReader.next();
      if (rows.length === 0) options.marks?.end();
      return rows.length > 0;
    },
    take() {
      const { line, event, reason } = head;
      return reason === undefined ? sink.onEvent(file, line, event) : sink.onBadLine(file, line, reason);
    },
    close: async () => source.close(),
  };
}

/** Reads batches of rows in file order; an empty one is the end. */
function createRowReader(file: string, source: ByteSource): { next(): Promise<readonly Row[]> } {
  const blocks = createLineBlocks(source, CHUNK_BYTES);
  let rows: Row[] = [];
  let parser: RowParser | undefined;
  const openParser = (beginning: string): RowParser =>
    createRowParser(file, detectSeparator(beginning), (row) => {
      rows.push(row);
    });
  return {
    async next() {
      rows = [];
      for (let block = await blocks.next(); ; block = await blocks.next()) {
        if (block === "oversized") (parser ??= openParser("")).skipLine(TOO_LONG);
        // Copied, because the parser may keep the last bytes while the block buffer is reused.
        if (block === "lines") {
          const lines = Buffer.from(blocks.bytes.subarray(blocks.start, blocks.end));
          await (parser ??= openParser(lines.toString("utf8"))).parse(lines);
        }
        if (block === "end") await parser?.end();
        if (block === "end" || rows.length > 0) return rows;
      }
    },
  };
}
