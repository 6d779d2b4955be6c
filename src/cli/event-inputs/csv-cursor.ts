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
import { readLineBlocks } from "./line-blocks.ts";

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
  const batches = readRowBatches(file, source.chunks);
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
      const batch = await batches.next();
      rows = batch.value ?? [];
      if (batch.done === true) options.marks?.end();
      return batch.done !== true;
    },
    take() {
      const { line, event, reason } = head;
      return reason === undefined ? sink.onEvent(file, line, event) : sink.onBadLine(file, line, reason);
    },
    close: async () => source.close(),
  };
}

/** Reads the rows of each block, in file order; the first is the header. */
export async function* readRowBatches(
  file: string,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<readonly Row[], undefined> {
  let rows: Row[] = [];
  let parser: RowParser | undefined;
  for await (const block of readLineBlocks(chunks)) {
    rows = [];
    const beginning = block === "oversized" ? "" : block.toString("utf8");
    parser ??= createRowParser(file, detectSeparator(beginning), (row) => rows.push(row));
    if (block === "oversized") parser.skipLine(TOO_LONG);
    else await parser.parse(block);
    yield rows;
  }
  rows = [];
  await parser?.end();
  yield rows;
  return undefined;
}
