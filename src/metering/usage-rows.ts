/** Rows of usage: cells as files and external sources have them (S17.1). */
import { didYouMean } from "../book/problems.ts";
import {
  hasKeys,
  KEY_DIMENSION,
  nameTexts,
  listUsageDimensions,
  type UsageGroup,
  type UsageMeter,
} from "../book/resources/event-schema.ts";
import {
  type Day,
  dayOf,
  formatDate,
  formatInstant,
  type Instant,
  toInstant,
  parseDate,
  instantOfDay,
} from "../calendar/instant.ts";
import { RatebookError } from "../errors.ts";
import { type Decimal, type DecimalInput, parseDecimal, formatDecimal } from "../numbers/decimal.ts";
import { formatExact } from "../numbers/exact.ts";
import { rejection } from "../problem-table.ts";
import { DIMENSION_LENGTH_MAX, formatDimensionValue, isDecimalInput } from "./event-fields.ts";
import { CHANGE_KEY, isTimedKey, MOMENT_KEY, parseKeyValue, parseTimedKey, VALUE_LENGTH_MAX } from "./measure-units.ts";
import type { UsageCell } from "./usage.ts";

/** The texts of a group, by the dimensions in the `groupBy` of its meter. */
export type NamedGroup = Readonly<Record<string, string>>;

/** The usage of a meter, and of a group if it has groups, by an account on a day. Equal rows but for quantities add up (S17.1). */
export interface UsageRow {
  readonly accountId: string;
  readonly meterId: string;
  /** UTC day, `2026-01-31`. */
  readonly date: string;
  /** Exact; may be negative (S5.2). */
  readonly quantity: Decimal;
  /** Absent for a meter without groups. */
  readonly group?: NamedGroup;
}

/** The input form of a {@link UsageRow}. */
export interface UsageRowInput {
  /** An account's id or one of its aliases. */
  readonly accountId: string;
  /** A usage meter's id. */
  readonly meterId: string;
  /** UTC day, `2026-01-31`; as an instant, its midnight. */
  readonly date: string | Instant | Date;
  /** At most 60 digits before the point and 40 after it. */
  readonly quantity: DecimalInput;
  /** For a meter with groups: the texts or numbers of all its dimensions, each 1 to 512 characters. */
  readonly group?: Readonly<Record<string, DecimalInput>> | undefined;
}

/** A meter, as far as its groups are concerned. */
type GroupedMeter = Pick<UsageMeter, "id" | "groupBy" | "aggregation" | "mode">;

/** A row of which only the group is not checked yet: that depends on its meter. */
export interface ParsedUsageRow extends Omit<UsageCell, "group"> {
  readonly group?: NamedGroup;
}

const FIELDS = ["accountId", "meterId", "date", "quantity"] as const satisfies readonly (keyof UsageRow)[];
/** The maximum digits of a day's sum of event units (S1.6), however many events there are. */
const INTEGER_DIGITS_MAX = 60;
const FRACTION_DIGITS_MAX = 40;
/** Maximum number of characters of a key: it may have an event's id, every character of which JSON may write as six. */
const KEY_LENGTH_MAX = 4096;

export const USAGE_FIELDS: readonly string[] = FIELDS;

/** Converts a cell to a row. @param meters those of the book */
export function toUsageRow(
  { accountId, meterId, group, day, quantity }: UsageCell,
  meters: readonly GroupedMeter[],
): UsageRow {
  const row = { accountId, meterId, date: formatDate(instantOfDay(day)), quantity };
  return group === undefined ? row : { ...row, group: nameGroup(group, meterId, meters) };
}

/** The texts of a group by the dimensions of its meter. @param meters those of the book */
export function nameGroup(group: UsageGroup, meterId: string, meters: readonly GroupedMeter[]): NamedGroup {
  const meter = meters.find(({ id }) => id === meterId);
  return nameTexts(group, meter === undefined ? [] : listUsageDimensions(meter));
}

/**
 * The group of a row.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID if the row lacks a dimension of the meter, or has another one
 */
export function readRowGroup(row: ParsedUsageRow, meter: GroupedMeter): UsageGroup | undefined {
  const { group = {} } = row;
  const dimensions = checkRowDimensions(Object.keys(group), meter);
  if (dimensions.length === 0) return undefined;
  const texts = dimensions.map((dimension) => group[dimension] ?? "");
  return toUsageGroup(texts, meter, row);
}

/**
 * Checks the names of a row's group.
 *
 * @returns those of the meter, in their order
 * @throws {RatebookError} ERR_INPUT_INVALID if one is missing, or another one is present
 */
export function checkRowDimensions(names: readonly string[], meter: GroupedMeter): readonly string[] {
  const { id } = meter;
  const dimensions = listUsageDimensions(meter);
  const unknown = names.find((name) => !dimensions.includes(name));
  if (unknown !== undefined) {
    const hint = didYouMean(unknown, dimensions);
    throw invalidRowError("$.group", `the usage meter ${JSON.stringify(id)} has no groups by ${quote(unknown)}${hint}`);
  }
  const missing = dimensions.find((dimension) => !names.includes(dimension));
  if (missing === KEY_DIMENSION) {
    const rows = `rows of the usage meter ${JSON.stringify(id)} need ${quote(`group.${KEY_DIMENSION}`)}`;
    throw invalidRowError("$.group", `${rows}: take rows that ratebook meter writes`);
  }
  if (missing !== undefined) {
    const needs = `the usage meter ${JSON.stringify(id)} groups usage by ${quote(missing)}`;
    throw invalidRowError("$.group", `${needs}, which the row lacks`);
  }
  return dimensions;
}

/** The day and the quantity of a row, which its key must match. */
type KeyedRow = Pick<ParsedUsageRow, "day" | "quantity">;

/** The group of a row from its texts, in the order of the meter's dimensions. @throws {RatebookError} ERR_INPUT_INVALID */
export function toUsageGroup(texts: readonly string[], meter: GroupedMeter, row: KeyedRow): UsageGroup {
  return hasKeys(meter) ? [...texts.slice(0, -1), readKey(texts.at(-1) ?? "", meter, row)] : texts;
}

/** The key of a row as metering writes it (S19.2). @throws {RatebookError} ERR_INPUT_INVALID */
function readKey(text: string, { id, aggregation, mode }: GroupedMeter, { day, quantity }: KeyedRow): string {
  const wrongKeyError = (expected: string): RatebookError => {
    const place = `group.${KEY_DIMENSION} of the usage meter ${JSON.stringify(id)}`;
    return invalidRowError("$.group", `${place}: expected ${expected}, got ${quote(text)}`);
  };
  if (mode === "CHANGE") {
    if (text === CHANGE_KEY || text === MOMENT_KEY) return text;
    throw wrongKeyError(`"${CHANGE_KEY}" or "${MOMENT_KEY}"`);
  }
  if (!quantity.isInteger() || quantity.isNegative()) {
    const counts = `rows of the usage meter ${JSON.stringify(id)} count events`;
    const problem = `${counts}: expected a whole number from 0, got ${formatDecimal(quantity)}`;
    throw invalidRowError("$.quantity", `quantity: ${problem}`);
  }
  switch (aggregation) {
    case "UNIQUE_COUNT":
      if (text.length <= VALUE_LENGTH_MAX) return text;
      throw wrongKeyError(`at most ${VALUE_LENGTH_MAX} characters`);
    case "MAX":
    case "MIN": {
      const value = parseKeyValue(text);
      if (value === undefined) throw wrongKeyError("a decimal with at most 40 digits before and after the point");
      return formatExact(value);
    }
    default: {
      const isOnDay = isTimedKey(text) && dayOf(parseTimedKey(text)[0]) === day;
      const example = JSON.stringify([instantOfDay(day), "event", "5"]);
      if (!isOnDay)
        throw wrongKeyError(`a time on ${formatDate(instantOfDay(day))}, an id and a value as in ${example}`);
      if (aggregation === "LATEST" || !parseTimedKey(text)[2].startsWith("-")) return text;
      throw wrongKeyError("a level of 0 or more");
    }
  }
}

/**
 * Parses a row. Does not check that its account and meter exist.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID for an invalid structure, field, day, or too many digits
 */
export function readUsageRow(value: unknown): ParsedUsageRow {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalidRowError("$", "expected a row {accountId, meterId, date, quantity}");
  const unknown = Object.keys(value).find((key) => key !== "group" && !USAGE_FIELDS.includes(key));
  if (unknown !== undefined)
    throw invalidRowError("$", `unknown field ${quote(unknown)}${didYouMean(unknown, [...FIELDS, "group"])}`);
  const row = value as Readonly<Record<string, unknown>>;
  const day = requireDay(row["date"]);
  const [accountId, meterId] = [requireText(row, "accountId"), requireText(row, "meterId")];
  const group = row["group"] === undefined || row["group"] === null ? undefined : requireGroup(row["group"]);
  return { accountId, meterId, day, quantity: requireQuantity(row["quantity"]), ...(group && { group }) };
}

function requireGroup(value: unknown): NamedGroup {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalidRowError("$.group", "group: expected an object of dimensions");
  const texts = Object.entries(value).map(([name, each]: readonly [string, unknown]): [string, string] => {
    const text = typeof each === "string" ? each : isDecimalInput(each) ? formatDimensionValue(each) : undefined;
    const maximum = name === KEY_DIMENSION ? KEY_LENGTH_MAX : DIMENSION_LENGTH_MAX;
    if (text !== undefined && text !== "" && text.length <= maximum) return [name, text];
    throw invalidRowError("$.group", `group.${name.slice(0, 60)}: expected a string of 1 to ${maximum} characters`);
  });
  return Object.fromEntries(texts);
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}

function requireText(row: Readonly<Record<string, unknown>>, field: string): string {
  const value = row[field];
  if (typeof value === "string" && value !== "" && value.length <= DIMENSION_LENGTH_MAX) return value;
  throw invalidRowError(`$.${field}`, `${field}: expected a string of 1 to ${DIMENSION_LENGTH_MAX} characters`);
}

function requireDay(value: unknown): Day {
  const isInstant = typeof value === "number" || value instanceof Date;
  if (!isInstant && (typeof value !== "string" || value === ""))
    throw invalidRowError("$.date", "date: expected a date such as 2026-01-31");
  try {
    return dayOf(parseDate(isInstant ? formatInstant(toInstant(value)) : value));
  } catch (error) {
    throw invalidRowError("$.date", describeError(error));
  }
}

function requireQuantity(value: unknown): Decimal {
  if (value === undefined || value === null || value === "")
    throw invalidRowError("$.quantity", "quantity: expected a decimal");
  let quantity: Decimal;
  try {
    quantity = parseDecimal(value);
  } catch (error) {
    throw invalidRowError("$.quantity", describeError(error));
  }
  if (quantity.decimalPlaces() <= FRACTION_DIGITS_MAX && quantity.e < INTEGER_DIGITS_MAX) return quantity;
  const text = JSON.stringify(formatDecimal(quantity).slice(0, 60));
  const bounds = `more than ${INTEGER_DIGITS_MAX} digits before the point or ${FRACTION_DIGITS_MAX} after it`;
  throw invalidRowError("$.quantity", `the quantity ${text} has ${bounds}`);
}

function describeError(error: unknown): string {
  if (error instanceof RatebookError) return error.message;
  throw error;
}

function invalidRowError(path: string, message: string): RatebookError<"ERR_INPUT_INVALID"> {
  return new RatebookError("ERR_INPUT_INVALID", message, {
    problems: [rejection(path, "INVALID_USAGE", message)],
  });
}
