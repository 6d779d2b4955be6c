/**
 * Events of CSV rows, of which the first is the header.
 *
 * @module
 */
import { didYouMean } from "../book/did-you-mean.ts";
import type { Problem } from "../problem-table.ts";
import { CARRIAGE_RETURNS } from "./byte-lines.ts";
import type { Row } from "./csv-rows.ts";
import type { ColumnReader, EventFileMap } from "./event-file-map.ts";
import { InputError, quoteText } from "./input-error.ts";
import { type EventMaker, createEventMaker } from "./mapped-event.ts";

/** An event and its line, or the reason why the line has none. */
export type EventRow =
  | { readonly line: number; readonly event: { readonly timestamp: string }; readonly reason?: undefined }
  | { readonly line: number; readonly event?: undefined; readonly reason: Problem };

/**
 * Creates a reader for the rows of one file, in order. It returns undefined for the header.
 *
 * @throws {InputError} for an invalid header, or one that lacks a mapped column
 */
export function createRowEventReader(file: string, map: EventFileMap): (row: Row) => EventRow | undefined {
  let makeEvent: EventMaker<readonly string[]> | undefined;
  let rowNumber = 0;
  return (row) => {
    const { line, record } = row;
    if (makeEvent === undefined) {
      if (record === undefined) throw new InputError(`${file}:${line}: expected a header: ${row.reason.message}`);
      makeEvent = createEventMaker(map, createColumnReader(record, file));
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
