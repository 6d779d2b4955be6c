/** Usage that is typed for a billing period: its total, and how a total is spread over days and groups. */
import type { Book } from "../../book/resources/book.ts";
import { hasKeys, type UsageMeter } from "../../book/resources/event-schema.ts";
import { addDays, daysBetween, formatDate, parseDate } from "../../calendar/instant.ts";
import { RatebookError } from "../../errors.ts";
import { featuresBySchema } from "../../ledger/catalog.ts";
import { add, decimalOfInteger, divide, multiply, subtract, ZERO } from "../../numbers/decimal.ts";
import { computeBill, curveKey, type PlayBill } from "./play-bill.ts";
import { itemKey, type PlayPeriod } from "./play-periods.ts";
import type { DatedQuantity, PlayState } from "./play-state.ts";
import { readDecimal } from "./value-rows.ts";

/** The days of a period; the end is exclusive. */
export type Days = Pick<PlayPeriod, "from" | "until">;

/** Rows that a total is spread over at most. */
const ROWS_MAX = 500;
/** Units by default of each group of a price table, in units of its rates. */
const GROUP_UNITS = 2;

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

/** A state that has even usage of the meters that plans price, if it has no usage and no events. */
export function withEvenUsage(state: PlayState, { book, curves, problems }: PlayBill, days: Days): PlayState {
  if (book === undefined || problems.length > 0 || state.usage.length > 0 || state.events.trim() !== "") return state;
  const usage = book.usageMeters.flatMap((meter) => {
    if (takesEventsOnly(meter, book)) return [];
    for (const { id, pricePlanDetails } of book.pricePlans) {
      const card = pricePlanDetails.usageRateCards.find(({ usageMeterId }) => usageMeterId === meter.id);
      if (card === undefined) continue;
      const shape = readShape(meter, book);
      const perGroup = multiply(card.rateTable?.per ?? decimalOfInteger(1), decimalOfInteger(GROUP_UNITS));
      const tableTotal = multiply(perGroup, decimalOfInteger(shape.groups?.length ?? 1)).toFixed();
      const total = curves.get(curveKey(id, itemKey("USAGE", meter.id)))?.quantity ?? tableTotal;
      return spreadTotal([], total, shape, days);
    }
    return [];
  });
  const next = { ...state, usage };
  return computeBill(next).problems.length > 0 ? state : next;
}
