/**
 * Events made of the records of a file through its map (book.md, "Event files").
 *
 * @module
 */
import { formatInstant, tryParseInstant, parseZone } from "../calendar/instant.ts";
import { bindOrigin, type ColumnReader, type CsvMap, type Origin, type OriginReader } from "./csv-map.ts";
import { quoted } from "./problems.ts";
import { TIME_FORMS, ungrouped, withPoint } from "./text-forms.ts";

/** Makes an event of a record, or says why there is none. */
export type EventMaker<Record> = (record: Record, row: number) => { readonly timestamp: string } | string;

/** A function that makes events of the records of one file. @throws {InputError} when the file is known to lack a column */
export function eventMaker<Record>(map: CsvMap, columnOf: ColumnReader<Record>): EventMaker<Record> {
  const bind = (origin: Origin): OriginReader<Record> => bindOrigin(origin, columnOf);
  const schemaName = bind(map.schemaName);
  const accountId = bind(map.accountId);
  const id = bind(map.id);
  const timestamp = bind(map.timestamp);
  const { form = "" } = map.timestamp;
  const timeOf = TIME_FORMS.get(form);
  const zone = map.timestamp.zone === undefined ? undefined : parseZone(map.timestamp.zone);
  const attributes = Object.entries(map.attributes).map(([name, origin]) => ({
    name,
    read: bind(origin),
    mark: "decimal" in origin ? origin.decimal : undefined,
  }));
  const marked = attributes.filter(({ mark }) => mark !== undefined);
  const dimensions = Object.entries(map.dimensions).map(([name, origin]) => ({ name, read: bind(origin) }));
  return (record, row) => {
    const given = timestamp(record, row);
    const time = timeOf === undefined ? given : timeOf(given);
    if (time === undefined) return `${quoted(given)} is no time in the form ${form}, which the map says`;
    for (const { read, mark } of marked) {
      const text = read(record, row);
      if (numberOf(text, mark) !== undefined) continue;
      return `${quoted(text)} is no number with a decimal ${mark === "," ? "comma" : "point"}, which the map says`;
    }
    return {
      schemaName: schemaName(record, row),
      id: id(record, row),
      timestamp: zonedTimestamp(time, zone),
      accountId: accountId(record, row),
      attributes: attributes.map(({ name, read, mark }) => ({ name, value: numberOf(read(record, row), mark) })),
      dimensions: Object.fromEntries(dimensions.map(({ name, read }) => [name, read(record, row)])),
    };
  };
}

/** A number as an event has it; undefined for one of another form than the map says. Where there is nothing, nothing. */
function numberOf(text: string, mark: string | undefined): string | undefined {
  if (mark === undefined || text === "") return text;
  return mark === "," ? withPoint(text) : ungrouped(text);
}

/** The timestamp in the form of an event; a text that is none is left as it is, for metering to refuse. */
function zonedTimestamp(text: string, zoneMinutes: number | undefined): string {
  const instant = tryParseInstant(text, zoneMinutes);
  return instant === undefined ? text : formatInstant(instant);
}
