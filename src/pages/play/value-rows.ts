/** Quantities typed for meters that do not sum, as rows of usage (S19.2): each is the value of an event at the start of its day. */
import { hasKeys, KEY_DIMENSION, type UsageMeter } from "../../book/resources/event-schema.ts";
import { parseDate } from "../../calendar/instant.ts";
import { RatebookError } from "../../errors.ts";
import { invalidInputError } from "../../ledger/refusals.ts";
import { CHANGE_KEY, formatTimedKey, MOMENT_KEY } from "../../metering/measure-units.ts";
import type { UsageRowInput } from "../../metering/usage-rows.ts";
import { type Decimal, decimalOfInteger, formatDecimal, multiply, parseDecimal } from "../../numbers/decimal.ts";
import { exactOfText } from "../../numbers/exact.ts";

/** Different values of a day that can be typed; each is a row. */
const UNIQUE_MAX = 10_000;

/** A typed quantity of a meter. */
interface TypedRow {
  readonly accountId: string;
  readonly meterId: string;
  readonly date: string;
  readonly quantity: string;
  /** The texts of its group by dimension; absent for a meter without groups. */
  readonly group?: Readonly<Record<string, string>>;
}

/** A decimal text as a number; undefined if it is invalid. */
export function readDecimal(text: string): Decimal | undefined {
  try {
    return parseDecimal(text.trim());
  } catch (error) {
    if (error instanceof RatebookError) return undefined;
    throw error;
  }
}

/**
 * The rows of a typed quantity. The same different values are counted on each day.
 *
 * @param id of the row, in the order of rows
 * @throws {RatebookError} for an invalid number or date
 */
export function toUsageRows(row: TypedRow, meter: UsageMeter | undefined, id: string): readonly UsageRowInput[] {
  if (meter === undefined || !hasKeys(meter)) return [row];
  const value = parseDecimal(row.quantity);
  const at = parseDate(row.date);
  const rowOf = (key: string, quantity: Decimal | number): UsageRowInput => ({
    ...row,
    quantity,
    group: { ...row.group, [KEY_DIMENSION]: key },
  });
  switch (meter.aggregation) {
    case "UNIQUE_COUNT":
      return Array.from({ length: countValues(row, value) }, (_, index) => rowOf(String(index + 1), 1));
    case "LATEST":
    case "TIME_WEIGHTED":
      return meter.mode === "CHANGE"
        ? [rowOf(CHANGE_KEY, value), rowOf(MOMENT_KEY, multiply(value, decimalOfInteger(at)))]
        : [rowOf(formatTimedKey(at, id, exactOfText(formatDecimal(value)) ?? 0), 1)];
    default:
      return [rowOf(formatDecimal(value), 1)];
  }
}

function countValues({ meterId, quantity }: TypedRow, count: Decimal): number {
  if (count.isInteger() && !count.isNegative() && count.lte(UNIQUE_MAX)) return count.toNumber();
  const message = `${meterId}: expected a whole number of different values from 0 to ${UNIQUE_MAX}, got ${quantity}`;
  throw invalidInputError("usage", "INVALID_USAGE", message);
}
