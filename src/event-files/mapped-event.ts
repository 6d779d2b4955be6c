/**
 * Makes events from records through a map (book.md, "Event files").
 *
 * @module
 */
import { formatInstant, tryParseInstant, parseZone } from "../calendar/instant.ts";
import { createProblem, type Problem } from "../problem-table.ts";
import { bindOrigin, type ColumnReader, type EventFileMap, type Origin, type OriginReader } from "./event-file-map.ts";
import { TIME_FORMS, removeGrouping, toDecimalPoint } from "./time-and-number-forms.ts";

/** Makes an event from a record, or returns the reason why not. */
export type EventMaker<Record> = (record: Record, row: number) => { readonly timestamp: string } | Problem;

/**
 * Creates a function that makes events from the records of a file.
 * @throws {InputError} if the file is known to lack a column
 */
export function createEventMaker<Record>(map: EventFileMap, findColumn: ColumnReader<Record>): EventMaker<Record> {
  const bindTo = (origin: Origin): OriginReader<Record> => bindOrigin(origin, findColumn);
  const schemaName = bindTo(map.schemaName);
  const accountId = bindTo(map.accountId);
  const id = bindTo(map.id);
  const timestamp = bindTo(map.timestamp);
  const { form = "" } = map.timestamp;
  const readTime = TIME_FORMS.get(form);
  const zone = map.timestamp.zone === undefined ? undefined : parseZone(map.timestamp.zone);
  const attributes = Object.entries(map.attributes).map(([name, origin]) => ({
    name,
    read: bindTo(origin),
    mark: "decimal" in origin ? origin.decimal : undefined,
  }));
  const markedAttributes = attributes.filter(({ mark }) => mark !== undefined);
  const dimensions = Object.entries(map.dimensions).map(([name, origin]) => ({ name, read: bindTo(origin) }));
  return (record, row) => {
    const timestampText = timestamp(record, row);
    const time = readTime === undefined ? timestampText : readTime(timestampText);
    if (time === undefined)
      return wrongFormatProblem("timestamp", `a time in the form ${form}, which the map sets`, timestampText);
    for (const { name, read, mark } of markedAttributes) {
      const text = read(record, row);
      if (normalizeNumber(text, mark) !== undefined) continue;
      const expected = `a number with a decimal ${mark === "," ? "comma" : "point"}, which the map sets`;
      return wrongFormatProblem(`attributes.${name}`, expected, text);
    }
    return {
      schemaName: schemaName(record, row),
      id: id(record, row),
      timestamp: toUtcTimestamp(time, zone),
      accountId: accountId(record, row),
      attributes: attributes.map(({ name, read, mark }) => ({ name, value: normalizeNumber(read(record, row), mark) })),
      dimensions: Object.fromEntries(dimensions.map(({ name, read }) => [name, read(record, row)])),
    };
  };
}

function wrongFormatProblem(field: string, expected: string, text: string): Problem {
  return createProblem(`$.${field}`, "NOT_IN_MAP_FORM", { expected, value: text });
}

/** Normalizes a number; undefined if it doesn't match the map's format. Empty text stays empty. */
function normalizeNumber(text: string, mark: string | undefined): string | undefined {
  if (mark === undefined || text === "") return text;
  return mark === "," ? toDecimalPoint(text) : removeGrouping(text);
}

/** Normalizes a timestamp. Invalid text is left as it is; metering rejects it. */
function toUtcTimestamp(text: string, zoneMinutes: number | undefined): string {
  const instant = tryParseInstant(text, zoneMinutes);
  return instant === undefined ? text : formatInstant(instant);
}
