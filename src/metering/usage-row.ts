/**
 * Rows of usage that was counted elsewhere, as they are given: so many units of a meter, by account and day (S17.1).
 *
 * @module
 */
import { didYouMean } from "../book/did-you-mean.ts";
import {
  DAY_MS,
  dayOf,
  type Day,
  formatDate,
  formatInstant,
  type Instant,
  toInstant,
  parseDate,
} from "../calendar/instant.ts";
import { RatebookError } from "../errors.ts";
import { type Decimal, type DecimalInput, parseDecimal, formatDecimal } from "../numbers/decimal.ts";
import { rejection } from "../problem-table.ts";
import type { UsageCell } from "./usage.ts";

/** How much of a meter an account used on a day. Several rows of one account, meter and day add up (S17.1). */
export interface UsageRow {
  readonly accountId: string;
  readonly meterId: string;
  /** The UTC day, as in `2026-01-31`. */
  readonly date: string;
  /** Exact; it may be below zero (S5.2). */
  readonly quantity: Decimal;
}

/** As {@link UsageRow}, to be given. */
export interface UsageRowInput {
  /** An account's id or one of its aliases. */
  readonly accountId: string;
  /** A usage meter's id. */
  readonly meterId: string;
  /** The UTC day, as in `2026-01-31`; as an instant, its midnight. */
  readonly date: string | Instant | Date;
  /** At most 60 digits before the point and 40 after it. */
  readonly quantity: DecimalInput;
}

const FIELDS = ["accountId", "meterId", "date", "quantity"] as const satisfies readonly (keyof UsageRow)[];
const TEXT_MAX = 512;
/** A day's sum of what events measure (S1.6) has these digits at most, however many there are. */
const INTEGER_DIGITS_MAX = 60;
const FRACTION_DIGITS_MAX = 40;

/** The names of a row's fields. */
export const USAGE_FIELDS: readonly string[] = FIELDS;

/** A cell as a row. */
export function toUsageRow({ accountId, meterId, day, quantity }: UsageCell): UsageRow {
  return { accountId, meterId, date: formatDate(day * DAY_MS), quantity };
}

/**
 * Reads the form of a row. Whether its account and meter exist is checked elsewhere.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID for another form, a field that is none or has too many digits, a day that is none
 */
export function readUsageRow(value: unknown): UsageCell {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalidRow("$", "expected a row {accountId, meterId, date, quantity}");
  const unknown = Object.keys(value).find((key) => !USAGE_FIELDS.includes(key));
  if (unknown !== undefined)
    throw invalidRow("$", `unknown field ${JSON.stringify(unknown.slice(0, 60))}${didYouMean(unknown, FIELDS)}`);
  const row = value as Readonly<Record<string, unknown>>;
  const day = requireDay(row["date"]);
  const [accountId, meterId] = [requireText(row, "accountId"), requireText(row, "meterId")];
  return { accountId, meterId, day, quantity: requireQuantity(row["quantity"]) };
}

function requireText(row: Readonly<Record<string, unknown>>, field: string): string {
  const value = row[field];
  if (typeof value === "string" && value !== "" && value.length <= TEXT_MAX) return value;
  throw invalidRow(`$.${field}`, `${field}: expected a text of 1 to ${TEXT_MAX} characters`);
}

function requireDay(value: unknown): Day {
  const isInstant = typeof value === "number" || value instanceof Date;
  if (!isInstant && (typeof value !== "string" || value === ""))
    throw invalidRow("$.date", "date: expected a text such as 2026-01-31");
  try {
    return dayOf(parseDate(isInstant ? formatInstant(toInstant(value)) : value));
  } catch (error) {
    throw invalidRow("$.date", describeError(error));
  }
}

function requireQuantity(value: unknown): Decimal {
  if (value === undefined || value === null || value === "")
    throw invalidRow("$.quantity", "quantity: expected a decimal");
  let quantity: Decimal;
  try {
    quantity = parseDecimal(value);
  } catch (error) {
    throw invalidRow("$.quantity", describeError(error));
  }
  if (quantity.decimalPlaces() <= FRACTION_DIGITS_MAX && quantity.e < INTEGER_DIGITS_MAX) return quantity;
  const shown = JSON.stringify(formatDecimal(quantity).slice(0, 60));
  const bounds = `more than ${INTEGER_DIGITS_MAX} digits before the point or ${FRACTION_DIGITS_MAX} after it`;
  throw invalidRow("$.quantity", `the quantity ${shown} has ${bounds}`);
}

function describeError(error: unknown): string {
  if (error instanceof RatebookError) return error.message;
  throw error;
}

function invalidRow(path: string, message: string): RatebookError<"ERR_INPUT_INVALID"> {
  return new RatebookError("ERR_INPUT_INVALID", message, {
    problems: [rejection(path, message)],
  });
}
