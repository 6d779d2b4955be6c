/** Creates plans, cards and periods for the tests of rating. */
import type { Cycle } from "../../src/calendar/cycle.ts";
import { parseDate } from "../../src/calendar/instant.ts";
import { Decimal } from "../../src/numbers/decimal.ts";
import { type Fraction, formatFraction } from "../../src/numbers/fraction.ts";
import type { RatedPeriod } from "../../src/rating/charge.ts";
import {
  type CardBounds,
  createRatePlan,
  createRateValue,
  type SlabPricing,
  type SlabRow,
} from "../../src/testing/price-arbitrary.ts";

/** The fields of every card with slabs. */
export function createSlabPricing(
  pricingModel: "TIERED" | "VOLUME",
  rows: readonly SlabRow[],
  bounds?: CardBounds,
): SlabPricing {
  return { ratePlan: createRatePlan(pricingModel, rows), rateValues: [createRateValue(rows, bounds)] };
}

/** `[from, until)`. */
export function days(from: string, until: string): Cycle {
  return { start: parseDate(from), end: parseDate(until) };
}

/** A period that was served completely. */
function wholePeriod(from: string, until: string): RatedPeriod {
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

/** The exact text of a charge within its bounds. */
export function exactAmount({ bounded }: { readonly bounded: Fraction }): string {
  return formatFraction(bounded);
}
