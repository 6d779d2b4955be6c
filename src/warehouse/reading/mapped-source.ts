/**
 * Binds a map to the columns of a database. Maps are the same as for CSV files.
 *
 * @module
 */
import { parseZone } from "../../calendar/instant.ts";
import type { EventFileMap, Origin } from "../../event-files/event-file-map.ts";
import { InputError, quoteText } from "../../event-files/input-error.ts";
import type { ColumnType, Source, SourceColumn, SourcePart, SourceTime } from "../source.ts";

/** The columns that a map uses, without duplicates. */
export function listMappedColumns(map: EventFileMap): readonly string[] {
  const columns = listOrigins(map).flatMap((origin) =>
    "column" in origin ? [origin.column] : templateNames(origin).filter((name) => name !== "row"),
  );
  return [...new Set(columns)];
}

/** Whether a map uses row numbers. */
export function usesRowNumbers(map: EventFileMap): boolean {
  return listOrigins(map).some((origin) => templateNames(origin).includes("row"));
}

function listOrigins(map: EventFileMap): readonly Origin[] {
  return [
    map.schemaName,
    map.accountId,
    map.id,
    map.timestamp,
    ...Object.values(map.attributes),
    ...Object.values(map.dimensions),
  ];
}

/** The names in braces of a template. */
function templateNames(origin: Origin): readonly string[] {
  if (!("template" in origin)) return [];
  return splitTemplate(origin.template).flatMap(({ text, isName }) => (isName ? [text] : []));
}

/** The parts of a template: those at odd indexes are names in braces. */
function splitTemplate(template: string): readonly { readonly text: string; readonly isName: boolean }[] {
  return template.split(/\{([^{}]+)\}/).map((text, index) => ({ text, isName: index % 2 === 1 }));
}

export function toSourceColumn(columns: ReadonlyMap<string, ColumnType>, column: string): SourceColumn {
  return { column, type: columns.get(column) ?? { type: "text" } };
}

/**
 * Binds the parts of events to columns.
 * @throws {InputError} for a time format that databases can't read as the core does
 */
export function bindSource(
  map: EventFileMap,
  {
    from,
    columns,
    name,
  }: { readonly from: string; readonly columns: ReadonlyMap<string, ColumnType>; readonly name: string },
): Source {
  const toPart = (origin: Origin): SourcePart => toSourcePart(origin, columns);
  return {
    from,
    schemaName: toPart(map.schemaName),
    id: toPart(map.id),
    accountId: toPart(map.accountId),
    timestamp: toSourceTime(map.timestamp, columns, name),
    attributes: new Map(
      Object.entries(map.attributes).map(([attribute, origin]) => {
        const sourcePart = toPart(origin);
        const hasNumberForm = "decimal" in origin && origin.decimal !== undefined && "column" in sourcePart;
        // Only the core reads numbers in a mapped format.
        return [
          attribute,
          hasNumberForm ? { ...sourcePart, type: { type: "other", name: "formed number" } } : sourcePart,
        ];
      }),
    ),
    dimensions: new Map(Object.entries(map.dimensions).map(([dimension, origin]) => [dimension, toPart(origin)])),
  };
}

function toSourcePart(origin: Origin, columns: ReadonlyMap<string, ColumnType>): SourcePart {
  if ("column" in origin) return toSourceColumn(columns, origin.column);
  if ("value" in origin) return { value: origin.value };
  const template = splitTemplate(origin.template)
    .filter(({ text }) => text !== "")
    .map(({ text, isName }) => (isName ? (text === "row" ? "row" : toSourceColumn(columns, text)) : { value: text }));
  return { template, isTemplate: true };
}

function toSourceTime(
  origin: EventFileMap["timestamp"],
  columns: ReadonlyMap<string, ColumnType>,
  file: string,
): SourceTime {
  const { form, zone } = origin;
  const part = toSourcePart(origin, columns);
  const zoneMinutes = zone === undefined ? undefined : parseZone(zone);
  if (form === undefined) return { part, zoneMinutes };
  const isNumeric = "column" in part && /^(?:integer|decimal|double)$/.test(part.type.type);
  if ((form !== "seconds" && form !== "milliseconds") || !isNumeric)
    throw new InputError(
      `${file}: times of the form ${quoteText(form)} can only be read from CSV; databases and Parquet files need timestamps, strings with a time zone, or numbers with the form "seconds" or "milliseconds"`,
    );
  return { part, form, zoneMinutes };
}
