/** The columns and column types of the parts of an event in a table or file, from a map as for CSV files. */
import { tryParseOffset } from "../calendar/instant.ts";
import { RatebookError } from "../errors.ts";
import { type EventFileMap, type Origin, splitTemplate } from "../event-files/event-file-map.ts";
import { InputError } from "../event-files/input-error.ts";
import { exactOfText, isWithinPlaces, scaleOf } from "../numbers/exact.ts";
import { quoteText, rejection } from "../problem-table.ts";
import { createTextRange, type DigitBounds, type PushedSchema } from "./pushdown/plan-pushdown.ts";
import { constantRange, type NumberRange } from "./pushdown/term.ts";

/** The type of a column, as far as the meaning of its values depends on it. */
export type ColumnType =
  /** `float` has 32 bits. */
  | { readonly type: "integer" | "double" | "float" }
  /** `isString`: values are stored as text, unlike those of an enumeration. */
  | { readonly type: "text"; readonly isString?: true }
  /** Never plain. `name` is the database's type name. */
  | { readonly type: "other"; readonly name: string }
  | { readonly type: "decimal"; readonly precision: number; readonly scale: number }
  /** With a zone it is an instant; without one, a local date and time. */
  | { readonly type: "timestamp"; readonly isZoned: boolean };

export interface SourceColumn {
  readonly column: string;
  readonly type: ColumnType;
}

/** The source of a part of an event: a column, a constant, or a template. */
export type SourcePart =
  | SourceColumn
  | { readonly value: string }
  /** Alternating texts and columns; `row` is the row number in its file, from 1. */
  | { readonly template: readonly (SourceColumn | { readonly value: string } | "row")[]; readonly isTemplate: true };

/** The source of the timestamp. */
export interface SourceTime {
  readonly part: SourcePart;
  /** Seconds or milliseconds since 1970; absent for date-times. */
  readonly form?: "seconds" | "milliseconds" | undefined;
  /** The offset of times without a zone, in minutes east of UTC. */
  readonly zoneMinutes?: number | undefined;
}

/** The sources of the parts of all events in a table or some files. */
export interface Source {
  /** The FROM clause in the dialect: a table, or a function that reads files. */
  readonly from: string;
  readonly schemaName: SourcePart;
  readonly id: SourcePart;
  readonly accountId: SourcePart;
  readonly timestamp: SourceTime;
  /** By name. Rows lack any part that is not here. */
  readonly attributes: ReadonlyMap<string, SourcePart>;
  readonly dimensions: ReadonlyMap<string, SourcePart>;
  /** A part whose cells only the core reads, because the map says more of them than their column. */
  readonly corePart?: string | undefined;
}

/** Digits that always fit a 64-bit integer. */
const INTEGER_DIGITS = 18;

/** The range of a plain event's attribute. @returns undefined if no row can be plain */
export function computePartRange(part: SourcePart | undefined, bounds: DigitBounds): NumberRange | undefined {
  if (part === undefined || "isTemplate" in part) return undefined;
  if ("value" in part) return computeValueRange(part.value);
  const { type } = part;
  switch (type.type) {
    case "text":
      return createTextRange("", bounds);
    case "double":
      // Doubles are only reliable up to 15 digits.
      return createTextRange("", { before: Math.min(bounds.before, 15 - bounds.after), after: bounds.after });
    case "integer":
      return createTextRange("", { before: bounds.before, after: 0 });
    case "decimal": {
      const before = Math.min(bounds.before, type.precision - type.scale, INTEGER_DIGITS - type.scale);
      return before < 0 ? undefined : createTextRange("", { before, after: type.scale });
    }
    case "float":
    case "timestamp":
    case "other":
      return undefined;
  }
}

function computeValueRange(text: string): NumberRange | undefined {
  const exact = exactOfText(text);
  if (exact === undefined || !isWithinPlaces(exact, INTEGER_DIGITS) || scaleOf(exact) > INTEGER_DIGITS)
    return undefined;
  return constantRange(exact);
}

/** Whether the text of a part in the database equals that in the event. */
function hasStableText(part: SourcePart | undefined): boolean {
  if (part === undefined) return false;
  if ("value" in part) return !part.value.includes("\0");
  if ("isTemplate" in part) return part.template.every((each) => each === "row" || hasStableText(each));
  return part.type.type === "text" || part.type.type === "integer";
}

/** Why no row of a source can be plain for a schema; undefined if rows can be. */
export function explainNotPushable(
  source: Source,
  { attributes, dimensions }: Pick<PushedSchema, "attributes" | "dimensions">,
): string | undefined {
  if (source.corePart !== undefined)
    return `the map of ${source.corePart} has decimal, default, empty or values, which only the core reads`;
  for (const [part, name] of [
    [source.schemaName, "schemaName"],
    [source.id, "id"],
    [source.accountId, "accountId"],
  ] as const) {
    if (!hasStableText(part)) return `the type of its ${name} column has no standard text form`;
  }
  if (!hasReadableTime(source.timestamp)) return "the database cannot read the type or form of its timestamp column";
  const missingAttribute = attributes.find(({ name }) => !source.attributes.has(name))?.name;
  if (missingAttribute !== undefined) return `the map has no attribute ${JSON.stringify(missingAttribute)}`;
  const missingDimension = dimensions.find((name) => !source.dimensions.has(name));
  if (missingDimension !== undefined) return `the map has no dimension ${JSON.stringify(missingDimension)}`;
  for (const [name, part] of source.attributes) {
    if (computePartRange(part, { before: 9, after: 0 }) === undefined)
      return `the database cannot read the type of the column of the attribute ${JSON.stringify(name)}`;
  }
  for (const [name, part] of source.dimensions) {
    if (!hasStableText(part))
      return `the type of the column of the dimension ${JSON.stringify(name)} has no standard text form`;
  }
  return undefined;
}

function hasReadableTime({ part, form, zoneMinutes }: SourceTime): boolean {
  if (!("column" in part)) return false;
  if (form !== undefined) return part.type.type === "integer";
  if (part.type.type === "timestamp") return part.type.isZoned || zoneMinutes !== undefined;
  return part.type.type === "text";
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
    attributes: new Map(Object.entries(map.attributes).map(([attribute, origin]) => [attribute, toPart(origin)])),
    dimensions: new Map(Object.entries(map.dimensions).map(([dimension, origin]) => [dimension, toPart(origin)])),
    corePart: findCorePart(map),
  };
}

/** The name of the first part whose origin has more than a column, value or template. */
function findCorePart({ schemaName, accountId, attributes, dimensions }: EventFileMap): string | undefined {
  const parts = [
    ...Object.entries({ schemaName, accountId }),
    ...Object.entries(attributes),
    ...Object.entries(dimensions),
  ];
  return parts.find(([, origin]) => Object.values(origin).filter((rule) => rule !== undefined).length > 1)?.[0];
}

function toSourcePart(origin: Origin, columns: ReadonlyMap<string, ColumnType>): SourcePart {
  if ("column" in origin) return toSourceColumn(columns, origin.column);
  if ("value" in origin) return { value: origin.value };
  const template = splitTemplate(origin.template)
    .map((text, index) => (index % 2 === 0 ? { value: text } : text === "row" ? text : toSourceColumn(columns, text)))
    .filter((part) => part === "row" || !("value" in part) || part.value !== "");
  return { template, isTemplate: true };
}

function toSourceTime(
  origin: EventFileMap["timestamp"],
  columns: ReadonlyMap<string, ColumnType>,
  file: string,
): SourceTime {
  const { form, zone } = origin;
  const part = toSourcePart(origin, columns);
  const zoneMinutes = zone === undefined ? undefined : tryParseOffset(zone);
  if (form === undefined) {
    const isZoned = "column" in part && part.type.type === "timestamp" && part.type.isZoned;
    if (zone !== undefined && zoneMinutes === undefined && !isZoned)
      throw new InputError(
        `${file}: the zone ${quoteText(zone)} can only be used with CSV and NDJSON; databases and Parquet files need timestamps with a time zone, or an offset such as "+05:30"`,
      );
    return { part, zoneMinutes };
  }
  const isNumeric = "column" in part && /^(?:integer|decimal|double)$/.test(part.type.type);
  if ((form !== "seconds" && form !== "milliseconds") || !isNumeric)
    throw new InputError(
      `${file}: times of the form ${quoteText(form)} can only be read from CSV; databases and Parquet files need timestamps, strings with a time zone, or numbers with the form "seconds" or "milliseconds"`,
    );
  return { part, form, zoneMinutes };
}

/** How messages name a source whose columns are checked. */
interface CheckedSource {
  readonly name: string;
  /** What expects a column, such as `the map uses the column`. */
  readonly expects: string;
  readonly kind: "file" | "table";
  /** The database's type names of lists and objects. */
  readonly nestedTypes: RegExp;
}

/** Checks that columns exist and contain no lists or objects. @throws {RatebookError} ERR_INPUT_INVALID */
export function checkColumns(
  names: readonly string[],
  columns: ReadonlyMap<string, ColumnType>,
  { name, expects, kind, nestedTypes }: CheckedSource,
): void {
  for (const column of names) {
    const type = columns.get(column);
    const found = [...columns.keys()].slice(0, 20).map((each) => JSON.stringify(each));
    if (type === undefined)
      throw invalidTableError(`${name}: ${expects} ${JSON.stringify(column)}, but the ${kind} has ${found.join(", ")}`);
    if (type.type === "other" && nestedTypes.test(type.name))
      throw invalidTableError(
        `${name}: the column ${JSON.stringify(column)} has the type ${type.name}: expected a string, number or time`,
      );
  }
}

/** The error for an unusable table, file or map. */
export function invalidTableError(message: string): RatebookError<"ERR_INPUT_INVALID"> {
  return new RatebookError("ERR_INPUT_INVALID", message, {
    problems: [rejection("$.events", "INVALID_TABLE", message)],
  });
}

/** The error for a source that changed between two reads. */
export function usageChangedError(message: string): RatebookError<"ERR_USAGE_UNAVAILABLE"> {
  return new RatebookError("ERR_USAGE_UNAVAILABLE", message, {});
}
