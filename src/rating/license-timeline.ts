/**
 * The quantity of a license over time (S10.1), and what is paid of it by days if it is charged in advance (S10.3). Lists
 * of updates are those of one license and account, in order of arrival.
 */
import { type Cycle, intersection } from "../calendar/cycle.ts";
import { type Instant, startOfUtcDay, addDays } from "../calendar/instant.ts";
import { add, type Decimal, maximum, ZERO } from "../numbers/decimal.ts";

/** One change of a quantity: ABSOLUTE sets it, RELATIVE adds to it. */
export interface QuantityUpdate {
  readonly updateType: "ABSOLUTE" | "RELATIVE";
  readonly quantity: Decimal;
  readonly effectiveFrom: Instant;
}

/** Days `[start, end)`, one or more, with the same quantity. */
export interface QuantityRun extends Cycle {
  readonly quantity: Decimal;
}

/** An update that makes the quantity exceed its bounds. */
export interface TimelineViolation {
  /** The update's index in order of arrival. */
  readonly index: number;
  readonly effectiveFrom: Instant;
  /** The invalid quantity: below 0 or above the maximum. */
  readonly quantity: Decimal;
}

/** The quantity after an update. */
interface Step extends QuantityStep {
  /** The update's index in order of arrival. */
  readonly index: number;
}

/** The quantity in effect at an instant: 0 before the first update. */
export function quantityAt(updates: readonly QuantityUpdate[], instant: Instant): Decimal {
  return createQuantityLookup(updates)(instant);
}

/** Creates a function like {@link quantityAt} for many instants, which adds up the updates only once. */
export function createQuantityLookup(updates: readonly QuantityUpdate[]): (instant: Instant) => Decimal {
  const steps = timelineSteps(updates);
  return (instant) => {
    let [from, until] = [0, steps.length];
    while (from < until) {
      const middle = (from + until) >> 1;
      if ((steps[middle]?.from ?? instant) <= instant) from = middle + 1;
      else until = middle;
    }
    return steps[from - 1]?.quantity ?? ZERO;
  };
}

/** A quantity, and when it takes effect. */
export interface QuantityStep {
  readonly from: Instant;
  readonly quantity: Decimal;
}

/** The instants at which updates take effect, in order, with the quantities; updates of one instant form one step. */
export function quantitySteps(updates: readonly QuantityUpdate[]): readonly QuantityStep[] {
  return timelineSteps(updates).filter((step, index, steps) => steps[index + 1]?.from !== step.from);
}

/**
 * Splits a period into runs of days with one quantity, in order and without gaps. A day's quantity is the largest in
 * effect at any time of that day (S10.1); a quantity replaced at the same instant was never in effect.
 *
 * @param period whole UTC days
 */
export function splitIntoDayRuns(updates: readonly QuantityUpdate[], period: Cycle): readonly QuantityRun[] {
  const steps = quantitySteps(updates);
  const runs: QuantityRun[] = [];
  let next = steps.findIndex(({ from }) => from > period.start);
  if (next < 0) next = steps.length;
  let current = steps[next - 1]?.quantity ?? ZERO;
  let day = period.start;
  while (day < period.end) {
    let largest = current;
    let step = steps[next];
    while (step !== undefined && step.from < addDays(day, 1)) {
      // After an update at midnight, the previous quantity is not in effect on this day.
      largest = step.from === day ? step.quantity : maximum(largest, step.quantity);
      current = step.quantity;
      next += 1;
      step = steps[next];
    }
    // If the day ends with its largest quantity, nothing changes until the day of the next update.
    const end = largest.eq(current)
      ? Math.min(step ? startOfUtcDay(step.from) : period.end, period.end)
      : addDays(day, 1);
    appendRun(runs, { start: day, end, quantity: largest });
    day = end;
  }
  return runs;
}

/**
 * The first update, by time, after which the quantity is below 0 or above the maximum (S10.1); undefined if there is
 * none.
 *
 * @param maxQuantity inclusive; absent: no maximum
 */
export function checkTimeline(
  updates: readonly QuantityUpdate[],
  maxQuantity?: Decimal | null,
): TimelineViolation | undefined {
  const violation = timelineSteps(updates).find(
    ({ quantity }) =>
      quantity.lt(ZERO) || (maxQuantity !== undefined && maxQuantity !== null && quantity.gt(maxQuantity)),
  );
  return violation && { index: violation.index, effectiveFrom: violation.from, quantity: violation.quantity };
}

/** The largest quantity of some runs; 0 if there are none. */
export function largestQuantity(runs: readonly { readonly quantity: Decimal }[]): Decimal {
  let largest = ZERO;
  for (const { quantity } of runs) largest = maximum(largest, quantity);
  return largest;
}

/** The updates by effectiveFrom, then arrival. */
function timelineSteps(updates: readonly QuantityUpdate[]): Step[] {
  let quantity = ZERO;
  // Called for each later update: avoid copies, and sorting if they arrived in order.
  const ordered = updates.map((update, index) => ({ update, index }));
  const isInOrder = updates.every(
    (update, index) => update.effectiveFrom >= (updates[index - 1] ?? update).effectiveFrom,
  );
  if (!isInOrder) ordered.sort((a, b) => a.update.effectiveFrom - b.update.effectiveFrom || a.index - b.index);
  return ordered.map(({ update: { updateType, quantity: change, effectiveFrom }, index }) => {
    quantity = updateType === "ABSOLUTE" ? change : add(quantity, change);
    return { index, from: effectiveFrom, quantity };
  });
}

function appendRun(runs: QuantityRun[], run: QuantityRun): void {
  const last = runs.at(-1);
  if (last?.quantity.eq(run.quantity)) runs[runs.length - 1] = { ...last, end: run.end };
  else runs.push(run);
}

/** What earlier charges of the same natural cycle or the same days paid (S9.1, S10.3). */
export interface PaidLevel {
  /** The largest quantity charged: only a larger one is charged again. */
  readonly chargedQuantity: Decimal;
  /** The quantity whose price is the paid level; undefined: nothing is paid. */
  readonly levelQuantity: Decimal | undefined;
}

/** Before the first charge. */
export const NOTHING_PAID: PaidLevel = { chargedQuantity: ZERO, levelQuantity: undefined };

/** Days with the same paid quantities. */
export interface PaidDays extends Cycle {
  /** Of each charged quantity, ascending; at least one. */
  readonly levels: readonly PaidLevel[];
}

/** The price of a quantity for a whole natural cycle. */
export type PriceOf = (quantity: Decimal) => Decimal;

/** The level of the highest charged quantity of some days. */
export function highestPaid({ levels }: PaidDays): PaidLevel {
  return levels.at(-1) ?? NOTHING_PAID;
}

/** The price of a paid level, as for a whole natural cycle. */
export function priceLevel(levelQuantity: Decimal | undefined, priceOf: PriceOf): Decimal {
  return levelQuantity === undefined ? ZERO : priceOf(levelQuantity);
}

/** The paid level after a greater quantity is charged: the highest of their prices. */
export function raiseLevel(paid: PaidLevel, quantity: Decimal, priceOf: PriceOf): PaidLevel {
  const isMore = priceOf(quantity).gt(priceLevel(paid.levelQuantity, priceOf));
  return { chargedQuantity: quantity, levelQuantity: isMore ? quantity : paid.levelQuantity };
}

/** Adds a charged quantity. */
export function addChargedQuantity(days: PaidDays, quantity: Decimal, priceOf: PriceOf): PaidDays {
  return { ...days, levels: [...days.levels, raiseLevel(highestPaid(days), quantity, priceOf)] };
}

/**
 * Removes the charged quantities above a given one: the paid level falls to that of the others or to the quantity's
 * price, whichever is more. It never rises or falls below 0: no more is refunded than was charged, and a quantity
 * charged before is paid at the level that it had then.
 */
export function removeQuantitiesAbove(days: PaidDays, quantity: Decimal, priceOf: PriceOf): PaidDays {
  const remaining = days.levels.filter((paid) => paid.chargedQuantity.lte(quantity));
  const below = remaining.at(-1);
  if (below?.chargedQuantity.eq(quantity) === true) return { ...days, levels: remaining };
  const { levelQuantity: top } = highestPaid(days);
  const floor = priceOf(quantity).isNegative() ? undefined : quantity;
  const price = (level: Decimal | undefined): Decimal => priceLevel(level, priceOf);
  const levelBelow = below !== undefined && price(below.levelQuantity).gt(price(floor)) ? below.levelQuantity : floor;
  const levelQuantity = price(levelBelow).lt(price(top)) ? levelBelow : top;
  return { ...days, levels: [...remaining, { chargedQuantity: quantity, levelQuantity }] };
}

/** The parts of paid days within a period. */
export function clipToPeriod(paid: readonly PaidDays[], period: Cycle): readonly PaidDays[] {
  return paid.flatMap((days) => {
    const common = intersection(days, period);
    return common === undefined ? [] : [{ ...days, ...common }];
  });
}

/** Replaces some of the paid days. */
export function replaceDays(paid: readonly PaidDays[], days: PaidDays): readonly PaidDays[] {
  const rest = paid.flatMap((each) =>
    intersection(each, days) === undefined
      ? [each]
      : [
          { ...each, end: Math.min(each.end, days.start) },
          { ...each, start: Math.max(each.start, days.end) },
        ].filter(({ start, end }) => start < end),
  );
  return [...rest, days].sort((a, b) => a.start - b.start);
}
