/**
 * Revenue over time: what the usage of each period adds to the charge of its cycle (S7).
 *
 * @module
 */
import type { UsageRateCard } from "../../book/resources/rate-card.ts";
import type { Instant } from "../../calendar/instant.ts";
import { type AccountCycle, cyclesIn, type Timeline } from "../../invoicing/timeline.ts";
import { add, type Decimal, ZERO } from "../../numbers/decimal.ts";
import { type Fraction, ZERO_FRACTION, subtractFractions } from "../../numbers/fraction.ts";
import { rateUsage } from "../../rating/usage.ts";
import type { Periods } from "./metric-series.ts";

/** Units of a meter in one period. */
export interface UsageAtInstant {
  readonly meterId: string;
  /** The start of the day or hour of use. */
  readonly at: Instant;
  readonly quantity: Decimal;
}

/** An account and its usage. */
export interface RevenueSource {
  readonly timeline: Timeline;
  readonly currency: string;
  /** Of all cycles from the one in which the range begins, in any order. */
  readonly usage: readonly UsageAtInstant[];
  /** Cycles that begin later have no revenue yet. */
  readonly now: Instant;
}

/** From when usage must be known for the revenue of a range: the start of the cycle in which it begins. */
export function revenueReadsFrom(timeline: Timeline, { start, end }: Pick<Periods, "start" | "end">): Instant {
  return Math.min(start, ...cyclesIn(timeline, start, end).map((cycle) => cycle.start));
}

/**
 * The revenue of an account's usage cards. The revenue of a period is the price of the cycle's quantity at its end
 * minus that at its start, with 0 before the cycle. All periods of a cycle add up to the exact charge of its invoice,
 * including minimum and maximum charges; if the price falls with quantity, revenue is negative.
 *
 * @param isWanted which meters count
 * @param put is called with each revenue other than 0
 */
export function putUsageRevenue(
  { timeline, currency, usage, now }: RevenueSource,
  periods: Periods,
  isWanted: (meterId: string) => boolean,
  put: (meterId: string, index: number, revenue: Fraction) => void,
): void {
  const byMeter = sortByMeter(usage);
  for (const cycle of cyclesIn(timeline, periods.start, periods.end)) {
    if (cycle.start > now) continue;
    for (const card of cycle.term.plan.details.usageRateCards) {
      if (!isWanted(card.usageMeterId)) continue;
      const used = (byMeter.get(card.usageMeterId) ?? []).filter(({ at }) => at >= cycle.start && at < cycle.end);
      putCardRevenue({ card, currency, cycle }, used, periods, (index, revenue) =>
        put(card.usageMeterId, index, revenue),
      );
    }
  }
}

interface CardInCycle {
  readonly card: UsageRateCard;
  readonly currency: string;
  readonly cycle: AccountCycle;
}

function putCardRevenue(
  { card, currency, cycle }: CardInCycle,
  used: readonly UsageAtInstant[],
  periods: Periods,
  put: (index: number, revenue: Fraction) => void,
): void {
  const period = { served: { start: cycle.start, end: cycle.end }, natural: cycle.natural };
  const priceOf = (quantity: Decimal): Fraction => rateUsage(card, currency, quantity, period).bounded;
  const start = Math.max(cycle.start, periods.start);
  let next = 0;
  let quantity = ZERO;
  const countUntil = (instant: Instant): boolean => {
    const before = next;
    for (let entry = used[next]; entry !== undefined && entry.at < instant; entry = used[next]) {
      quantity = add(quantity, entry.quantity);
      next += 1;
    }
    return next > before;
  };
  countUntil(start);
  let price = start === cycle.start ? ZERO_FRACTION : priceOf(quantity);
  const last = periods.indexAt(Math.min(cycle.end, periods.end) - 1);
  for (let index = periods.indexAt(start); index <= last; index += 1) {
    const hasMore = countUntil(periods.periodAt(index).end);
    // Only usage and the start of the cycle change a price.
    if (!hasMore && !(index === periods.indexAt(start) && start === cycle.start)) continue;
    const after = priceOf(quantity);
    const revenue = subtractFractions(after, price);
    price = after;
    if (!revenue.numerator.isZero()) put(index, revenue);
  }
}

function sortByMeter(usage: readonly UsageAtInstant[]): ReadonlyMap<string, readonly UsageAtInstant[]> {
  const byMeter = new Map<string, UsageAtInstant[]>();
  for (const used of usage) {
    const list = byMeter.get(used.meterId);
    if (list === undefined) byMeter.set(used.meterId, [used]);
    else list.push(used);
  }
  for (const list of byMeter.values()) list.sort((a, b) => a.at - b.at);
  return byMeter;
}
