/** Small makers of plans, cards and periods for the tests of rating. */
import type { RatePlanInput, RateValueInput } from "../../src/book/resources/rate-card.ts";
import type { Cycle } from "../../src/calendar/cycle.ts";
import { parseDate } from "../../src/calendar/instant.ts";
import { Decimal } from "../../src/numbers/decimal.ts";
import { type Fraction, textOfFraction } from "../../src/numbers/fraction.ts";
import type { RatedPeriod } from "../../src/rating/charge.ts";

/** A slab with its rate, as a test writes it. */
export interface Row {
  readonly after: number | string;
  readonly type?: "FLAT" | "PER_UNIT" | "PACKAGE";
  readonly rate: number | string;
  readonly packageSize?: number | string;
  readonly chargeAtZero?: boolean | "true" | "false";
  readonly flatRate?: number | string;
  readonly minimumRate?: number | string;
  readonly maximumRate?: number | string;
}

/** Bounds of a whole card. */
export interface CardBounds {
  readonly minimumRate?: number | string;
  readonly maximumRate?: number | string;
}

/** A rate plan of these slabs. */
export function planOf(pricingModel: "TIERED" | "VOLUME", rows: readonly Row[]): RatePlanInput {
  return {
    pricingModel,
    slabs: rows.map(({ after, type, packageSize, chargeAtZero }, index) => ({
      order: index + 1,
      startAfter: after,
      endAt: rows[index + 1]?.after ?? null,
      priceType: type ?? "PER_UNIT",
      slabConfig: { packageSize, chargeAtZero },
    })),
  };
}

/** The rates of these slabs, in US dollars unless said. */
export function ratesOf(rows: readonly Row[], rateConfig?: CardBounds, currency = "USD"): RateValueInput {
  return {
    currency,
    slabRates: rows.map(({ rate, flatRate, minimumRate, maximumRate }, index) => ({
      order: index + 1,
      rate,
      slabRateConfig: { flatRate, minimumRate, maximumRate },
    })),
    ...(rateConfig && { rateConfig: { ...rateConfig } }),
  };
}

/** What every slab-priced card has. */
export function pricedBy(
  pricingModel: "TIERED" | "VOLUME",
  rows: readonly Row[],
  bounds?: CardBounds,
): { readonly ratePlan: RatePlanInput; readonly rateValues: RateValueInput[] } {
  return { ratePlan: planOf(pricingModel, rows), rateValues: [ratesOf(rows, bounds)] };
}

/** `[from, until)`. */
export function days(from: string, until: string): Cycle {
  return { start: parseDate(from), end: parseDate(until) };
}

/** A period that was served in whole. */
export function wholePeriod(from: string, until: string): RatedPeriod {
  return { served: days(from, until), natural: days(from, until) };
}

/** June 2026, 30 days. */
export const JUNE: RatedPeriod = wholePeriod("2026-06-01", "2026-07-01");
/** 15 to 30 June 2026, 16 of 30 days. */
export const LATE_JUNE: RatedPeriod = { served: days("2026-06-15", "2026-07-01"), natural: JUNE.natural };
/** 16 to 30 June 2026, 15 of 30 days. */
export const HALF_JUNE: RatedPeriod = { served: days("2026-06-16", "2026-07-01"), natural: JUNE.natural };

/** A decimal. */
export function d(value: number | string): Decimal {
  return new Decimal(value);
}

/** The exact text of a fraction. */
export function textOf(fraction: Fraction): string {
  return textOfFraction(fraction);
}
