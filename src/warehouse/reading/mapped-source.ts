/**
 * The map of a database's rows, bound to their columns: the same map as of CSV files, whose parts a database reads here.
 *
 * @module
 */
import { parseZone } from "../../calendar/instant.ts";
import type { CsvMap, Origin } from "../../records/csv-map.ts";
import { InputError, quoted } from "../../records/problems.ts";
import type { ColumnType, Source, SourceColumn, SourcePart, SourceTime } from "../source.ts";

/** The columns that a map names, each once. */
export function columnsNamedBy(map: CsvMap): readonly string[] {
  const columns = originsOf(map).flatMap((origin) =>
    "column" in origin ? [origin.column] : namesIn(origin).filter((name) => name !== "row"),
  );
  return [...new Set(columns)];
}

/** Whether a map asks for the numbers of rows. */
export function asksForRows(map: CsvMap): boolean {
  return originsOf(map).some((origin) => namesIn(origin).includes("row"));
}

function originsOf(map: CsvMap): readonly Origin[] {
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
function namesIn(origin: Origin): readonly string[] {
  if (!("template" in origin)) return [];
  return partsOf(origin.template).flatMap(({ text, isName }) => (isName ? [text] : []));
}

/** The parts of a template: those at odd places are names in braces. */
function partsOf(template: string): readonly { readonly text: string; readonly isName: boolean }[] {
  return template.split(/\{([^{}]+)\}/).map((text, place) => ({ text, isName: place % 2 === 1 }));
}

/** A column with its type. */
export function columnIn(columns: ReadonlyMap<string, ColumnType>, column: string): SourceColumn {
  return { column, type: columns.get(column) ?? { type: "text" } };
}

/** Where rows have the parts of events. @throws {InputError} for a form of times that no database reads as the core does */
export function sourceOf(
  map: CsvMap,
  {
    from,
    columns,
    name,
  }: { readonly from: string; readonly columns: ReadonlyMap<string, ColumnType>; readonly name: string },
): Source {
  const part = (origin: Origin): SourcePart => partIn(origin, columns);
  return {
    from,
    schemaName: part(map.schemaName),
    id: part(map.id),
    accountId: part(map.accountId),
    timestamp: timeIn(map.timestamp, columns, name),
    attributes: new Map(
      Object.entries(map.attributes).map(([attribute, origin]) => {
        const found = part(origin);
        const isFormed = "decimal" in origin && origin.decimal !== undefined && "column" in found;
        // A number in a form that the map says is read by the core alone.
        return [attribute, isFormed ? { ...found, type: { type: "other", name: "formed number" } } : found];
      }),
    ),
    dimensions: new Map(Object.entries(map.dimensions).map(([dimension, origin]) => [dimension, part(origin)])),
  };
}

function partIn(origin: Origin, columns: ReadonlyMap<string, ColumnType>): SourcePart {
  if ("column" in origin) return columnIn(columns, origin.column);
  if ("value" in origin) return { value: origin.value };
  const template = partsOf(origin.template)
    .filter(({ text }) => text !== "")
    .map(({ text, isName }) => (isName ? (text === "row" ? "row" : columnIn(columns, text)) : { value: text }));
  return { template, isTemplate: true };
}

function timeIn(origin: CsvMap["timestamp"], columns: ReadonlyMap<string, ColumnType>, file: string): SourceTime {
  const { form, zone } = origin;
  const part = partIn(origin, columns);
  const zoneMinutes = zone === undefined ? undefined : parseZone(zone);
  if (form === undefined) return { part, zoneMinutes };
  const isCounted = "column" in part && /^(?:integer|decimal|double)$/.test(part.type.type);
  if ((form !== "seconds" && form !== "milliseconds") || !isCounted)
    throw new InputError(
      `${file}: times of the form ${quoted(form)} are read from CSV alone: in a database and in Parquet expected a column of timestamps, of texts with a zone, or of "seconds" or "milliseconds" as integers, decimals or doubles`,
    );
  return { part, form, zoneMinutes };
}
