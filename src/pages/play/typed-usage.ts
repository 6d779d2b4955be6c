/** Usage that is typed for a billing period: its total, how a total is spread over days and groups, and its rows to price. */
import type { Book } from "../../book/resources/book.ts";
import { hasKeys, KEY_DIMENSION, type UsageMeter } from "../../book/resources/event-schema.ts";
import { addDays, daysBetween, formatDate, parseDate } from "../../calendar/instant.ts";
import { RatebookError } from "../../errors.ts";
import { featuresBySchema } from "../../ledger/catalog.ts";
import { invalidInputError } from "../../ledger/refusals.ts";
import { CHANGE_KEY, formatTimedKey, MOMENT_KEY } from "../../metering/measure-units.ts";
import type { UsageRowInput } from "../../metering/usage-rows.ts";
import {
  add,
  type Decimal,
  decimalOfInteger,
  divide,
  formatDecimal,
  multiply,
  parseDecimal,
  subtract,
  ZERO,
} from "../../numbers/decimal.ts";
import { exactOfText } from "../../numbers/exact.ts";
import type { DatedQuantity } from "../play-state.ts";

/** The days of a period; the end is exclusive. */
export interface Days {
  readonly from: string;
  readonly until: string;
}

/** Rows that a total is spread over at most. */
const ROWS_MAX = 500;

export function isUsageIn({ from, until }: Days, { date }: DatedQuantity): boolean {
  return date >= from && date < until;
}

/** The total of rows: of one, its text as typed. */
export function readTotal(rows: readonly DatedQuantity[]): string {
  const [only, ...more] = rows;
  if (only === undefined) return "0";
  if (more.length === 0) return only.quantity;
  try {
    return rows.reduce((sum, { quantity }) => add(sum, readDecimal(quantity) ?? ZERO), ZERO).toFixed();
  } catch (error) {
    if (error instanceof RatebookError) return only.quantity;
    throw error;
  }
}

/** The quantity of each day as a share of the largest, for drawing. */
export function readDayShares(rows: readonly DatedQuantity[], days: Days): readonly number[] {
  const [start, end] = [parseDate(days.from), parseDate(days.until)];
  const sums = Array.from({ length: Math.min(366, daysBetween(start, end)) }, () => 0);
  for (const { date, quantity } of rows) {
    const at = daysBetween(start, parseDate(date));
    sums[at] = (sums[at] ?? 0) + (Number(quantity) || 0);
  }
  const largest = Math.max(...sums);
  return sums.map((sum) => (largest > 0 ? Math.max(0, sum) / largest : 0));
}

/** What a meter's usage of a period is spread over. */
export interface UsageShape {
  readonly id: string;
  /** Whether the quantities of days add up. */
  readonly isSum: boolean;
  /** Absent for a meter without groups. */
  readonly groups?: readonly Readonly<Record<string, string>>[];
}

/** The groups of a meter are those that the price tables of plans name. */
export function readShape(meter: UsageMeter, { pricePlans }: Book): UsageShape {
  const { id, groupBy = [] } = meter;
  const isSum = !hasKeys(meter);
  if (groupBy === null || groupBy.length === 0) return { id, isSum };
  const groups = new Map<string, Readonly<Record<string, string>>>();
  for (const card of pricePlans.flatMap(({ pricePlanDetails }) => pricePlanDetails.usageRateCards)) {
    if (card.usageMeterId !== id) continue;
    for (const { when } of card.rateTable?.rows ?? []) {
      const group = Object.fromEntries(groupBy.map((dimension) => [dimension, when?.[dimension] ?? "other"]));
      groups.set(JSON.stringify(group), group);
    }
  }
  return { id, isSum, groups: [...groups.values()] };
}

/**
 * Rows with another total: in the proportions of the rows before, or evenly over the days of the period. A text that is
 * no number becomes one row, with its problem.
 */
export function spreadTotal(
  rows: readonly DatedQuantity[],
  text: string,
  shape: UsageShape,
  days: Days,
): readonly DatedQuantity[] {
  const [first, ...more] = rows;
  const total = readDecimal(text);
  if (first !== undefined && (more.length === 0 || total === undefined)) return [{ ...first, quantity: text }];
  const weights = rows.map(({ quantity }) => readDecimal(quantity) ?? ZERO);
  const isUsable = weights.some((weight) => weight.gt(ZERO)) && weights.every((weight) => weight.gte(ZERO));
  const slots = isUsable ? rows : listSlots(shape, days);
  if (total === undefined) return [{ ...slots[0], of: shape.id, date: days.from, quantity: text }];
  const shares = isUsable ? weights : slots.map(() => decimalOfInteger(1));
  const sum = shares.reduce(add, ZERO);
  const quantities = shares.map((share) => divide(multiply(total, share), sum).floor());
  // What is left is spread over the first rows; a fraction is in the first one.
  const rest = subtract(total, quantities.reduce(add, ZERO));
  const whole = rest.floor();
  return slots.flatMap((slot, index) => {
    const extra = decimalOfInteger(whole.gt(index) ? 1 : 0);
    const quantity = add(quantities[index] ?? ZERO, index === 0 ? add(extra, subtract(rest, whole)) : extra);
    return quantity.isZero() && index > 0 ? [] : [{ ...slot, quantity: quantity.toFixed() }];
  });
}

/** The days and groups over which the usage of a period is spread. */
function listSlots(
  { id, isSum, groups = [] }: UsageShape,
  { from, until }: Days,
): readonly Omit<DatedQuantity, "quantity">[] {
  const start = parseDate(from);
  const count = Math.max(1, daysBetween(start, parseDate(until)));
  const isDaily = isSum && count * Math.max(1, groups.length) <= ROWS_MAX;
  const dates = Array.from({ length: isDaily ? count : 1 }, (_, day) => formatDate(addDays(start, day)));
  return dates.flatMap((date) =>
    groups.length === 0 ? [{ of: id, date }] : groups.map((group) => ({ of: id, date, group })),
  );
}

/** Whether a meter has no typed usage, because its events consume credits of a feature in order (S17.1). */
export function takesEventsOnly({ eventSchemaName }: UsageMeter, book: Book): boolean {
  return featuresBySchema(book).has(eventSchemaName);
}

/** Different values of a day that can be typed; each is a row. */
const UNIQUE_MAX = 10_000;

/** A typed quantity of a meter, without a group for a meter that has none. */
type TypedRow = Omit<DatedQuantity, "of"> & { readonly accountId: string; readonly meterId: string };

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
