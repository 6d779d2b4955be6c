/**
 * The paid part of a license charged in advance, by day: the charged quantities of each range of days, and the
 * resulting paid level (S10.3).
 */
import type { Cycle } from "../calendar/cycle.ts";
import { intersection } from "../calendar/proration.ts";
import { type Decimal, ZERO } from "../numbers/decimal.ts";

/** A charged quantity, and what is paid up to it. */
export interface PaidQuantity {
  readonly quantity: Decimal;
  /** The quantity whose price is the paid level up to here; undefined: nothing is paid. */
  readonly levelQuantity: Decimal | undefined;
}

/** Days with the same paid quantities. */
export interface PaidDays extends Cycle {
  /** By quantity, ascending; at least one. */
  readonly quantities: readonly PaidQuantity[];
}

/** The price of a quantity for a whole natural cycle. */
export type PriceOf = (quantity: Decimal) => Decimal;

/** The highest charged quantity of some days. */
export function highestPaid({ quantities }: PaidDays): PaidQuantity {
  return quantities.at(-1) ?? { quantity: ZERO, levelQuantity: undefined };
}

/** The paid level of the days, as for a whole natural cycle. */
export function paidAmount({ levelQuantity }: PaidQuantity, priceOf: PriceOf): Decimal {
  return levelQuantity === undefined ? ZERO : priceOf(levelQuantity);
}

/** Adds a charged quantity. */
export function addChargedQuantity(days: PaidDays, quantity: Decimal, priceOf: PriceOf): PaidDays {
  const top = highestPaid(days);
  const isMore = priceOf(quantity).gt(paidAmount(top, priceOf));
  return {
    ...days,
    quantities: [...days.quantities, { quantity, levelQuantity: isMore ? quantity : top.levelQuantity }],
  };
}

/**
 * Removes the charged quantities above a given one: the paid level falls to that of the others or to the quantity's
 * price, whichever is more. It never rises or falls below 0: no more is refunded than was charged, and a quantity
 * charged before is paid at the level that it had then.
 */
export function removeQuantitiesAbove(days: PaidDays, quantity: Decimal, priceOf: PriceOf): PaidDays {
  const remaining = days.quantities.filter((paid) => paid.quantity.lte(quantity));
  const below = remaining.at(-1);
  if (below?.quantity.eq(quantity) === true) return { ...days, quantities: remaining };
  const top = highestPaid(days);
  const floor = priceOf(quantity).isNegative() ? undefined : quantity;
  const levels = [
    { quantity, levelQuantity: floor },
    ...(below === undefined ? [] : [{ quantity, levelQuantity: below.levelQuantity }]),
  ];
  const mostExpensive = levels.reduce((a, b) => (paidAmount(b, priceOf).gt(paidAmount(a, priceOf)) ? b : a));
  const isLess = paidAmount(mostExpensive, priceOf).lt(paidAmount(top, priceOf));
  return {
    ...days,
    quantities: [...remaining, isLess ? mostExpensive : { quantity, levelQuantity: top.levelQuantity }],
  };
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
