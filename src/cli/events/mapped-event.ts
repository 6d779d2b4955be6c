/**
 * Events made of the records of a file through its map (book.md, "Event files").
 *
 * @module
 */
import { formatInstant, instantOrUndefined, parseZone } from "../../calendar/instant.ts";
import { quoted } from "../problems.ts";
import { bindOrigin, type ColumnReader, type CsvMap, type Origin, type OriginReader } from "./csv-map.ts";
import { TIME_FORMS, withPoint } from "./text-forms.ts";

/** Makes an event of a record, or says why there is none. */
export type EventMaker<Record> = (record: Record, row: number) => { readonly timestamp: string } | string;

/** What makes events of the records of one file. @throws {InputError} when the file is known to lack a column */
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
    hasComma: "decimal" in origin && origin.decimal === ",",
  }));
  const commas = attributes.filter(({ hasComma }) => hasComma);
  const dimensions = Object.entries(map.dimensions).map(([name, origin]) => ({ name, read: bind(origin) }));
  return (record, row) => {
    const given = timestamp(record, row);
    const time = timeOf === undefined ? given : timeOf(given);
    if (time === undefined) return `${quoted(given)} is no time in the form ${form}, which the map says`;
    const other = commas.map(({ read }) => read(record, row)).find((text) => pointed(text) === undefined);
    if (other !== undefined) return `${quoted(other)} is no number with a decimal comma, which the map says`;
    return {
      schemaName: schemaName(record, row),
      id: id(record, row),
      timestamp: zonedTimestamp(time, zone),
      accountId: accountId(record, row),
      attributes: attributes.map(({ name, read, hasComma }) => {
        const text = read(record, row);
        return { name, value: hasComma ? pointed(text) : text };
      }),
      dimensions: Object.fromEntries(dimensions.map(({ name, read }) => [name, read(record, row)])),
    };
  };
}

/** As {@link withPoint}; where there is nothing, nothing. */
function pointed(text: string): string | undefined {
  return text === "" ? text : withPoint(text);
}

/** The timestamp in the form of an event; a text that is none is left as it is, for metering to refuse. */
function zonedTimestamp(text: string, zoneMinutes: number | undefined): string {
  const instant = instantOrUndefined(text, zoneMinutes);
  return instant === undefined ? text : formatInstant(instant);
}
