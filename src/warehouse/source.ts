/**
 * The columns and column types of the parts of an event in a table or file.
 *
 * @module
 */
import { exactOfText, isWithinPlaces, mantissaOf, scaleOf } from "../numbers/exact.ts";
import type { NumberRange } from "./pushdown/number-range.ts";
import { type DigitBounds, createTextRange } from "./pushdown/plan-pushdown.ts";

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
  const mantissa = BigInt(mantissaOf(exact));
  return { scale: scaleOf(exact), min: mantissa, max: mantissa };
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
  { attributes, dimensions }: { readonly attributes: readonly string[]; readonly dimensions: readonly string[] },
): string | undefined {
  for (const [part, name] of [
    [source.schemaName, "schemaName"],
    [source.id, "id"],
    [source.accountId, "accountId"],
  ] as const) {
    if (!hasStableText(part)) return `the type of its ${name} column has no standard text form`;
  }
  if (!hasReadableTime(source.timestamp)) return "the database cannot read the type or form of its timestamp column";
  const missingAttribute = attributes.find((name) => !source.attributes.has(name));
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
