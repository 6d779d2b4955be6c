/** Rows of usage: cells as files and external sources have them (S17.1). */
import { didYouMean } from "../book/problems.ts";
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
import { rejection } from "../problem-table.ts";
import type { UsageCell } from "./usage.ts";

/** The usage of a meter by an account on a day. Rows of one account, meter and day add up (S17.1). */
export interface UsageRow {
  readonly accountId: string;
  readonly meterId: string;
  /** UTC day, `2026-01-31`. */
  readonly date: string;
  /** Exact; may be negative (S5.2). */
  readonly quantity: Decimal;
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
}

const FIELDS = ["accountId", "meterId", "date", "quantity"] as const satisfies readonly (keyof UsageRow)[];
const TEXT_MAX = 512;
/** The maximum digits of a day's sum of event units (S1.6), however many events there are. */
const INTEGER_DIGITS_MAX = 60;
const FRACTION_DIGITS_MAX = 40;

export const USAGE_FIELDS: readonly string[] = FIELDS;

/** Converts a cell to a row. */
export function toUsageRow({ accountId, meterId, day, quantity }: UsageCell): UsageRow {
  return { accountId, meterId, date: formatDate(instantOfDay(day)), quantity };
}

/**
 * Parses a row. Does not check that its account and meter exist.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID for an invalid structure, field, day, or too many digits
 */
export function readUsageRow(value: unknown): UsageCell {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalidRowError("$", "expected a row {accountId, meterId, date, quantity}");
  const unknown = Object.keys(value).find((key) => !USAGE_FIELDS.includes(key));
  if (unknown !== undefined)
    throw invalidRowError("$", `unknown field ${JSON.stringify(unknown.slice(0, 60))}${didYouMean(unknown, FIELDS)}`);
  const row = value as Readonly<Record<string, unknown>>;
  const day = requireDay(row["date"]);
  const [accountId, meterId] = [requireText(row, "accountId"), requireText(row, "meterId")];
  return { accountId, meterId, day, quantity: requireQuantity(row["quantity"]) };
}

function requireText(row: Readonly<Record<string, unknown>>, field: string): string {
  const value = row[field];
  if (typeof value === "string" && value !== "" && value.length <= TEXT_MAX) return value;
  throw invalidRowError(`$.${field}`, `${field}: expected a string of 1 to ${TEXT_MAX} characters`);
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
