/** Random plans, rates and bounds for the properties of rating. */
import fc from "fast-check";

import { add, Decimal } from "../../src/numbers/decimal.ts";
import type { CardBounds, Row } from "./cards.ts";

/** Slabs with their rates, and the card's bounds. */
export interface RandomCard {
  readonly rows: readonly Row[];
  readonly bounds: CardBounds;
}

/** Decimals from 0 to `maxHundredths` hundredths, as texts. */
export const hundredths = (maxHundredths: number): fc.Arbitrary<string> =>
  fc.integer({ min: 0, max: maxHundredths }).map((units) => new Decimal(`${units}e-2`).toFixed());

/** Neither bound, one of them, or both with the minimum at most the maximum. */
const boundPair = (amounts: fc.Arbitrary<string>): fc.Arbitrary<CardBounds> =>
  fc.tuple(fc.option(amounts, { nil: undefined }), fc.option(amounts, { nil: undefined })).map(([low, high]) => ({
    ...(low !== undefined && { minimumRate: low }),
    ...(high !== undefined && {
      maximumRate: low === undefined ? high : add(new Decimal(low), new Decimal(high)).toFixed(),
    }),
  }));

/** Cards of one to six slabs of every price type. `widths` are above 0. */
export function cards(widths: fc.Arbitrary<string>, amounts: fc.Arbitrary<string>): fc.Arbitrary<RandomCard> {
  const row = fc.record({
    width: widths,
    type: fc.constantFrom("FLAT" as const, "PER_UNIT" as const, "PACKAGE" as const),
    rate: amounts,
    packageSize: widths,
    chargeAtZero: fc.boolean(),
    flatRate: fc.option(amounts, { nil: undefined }),
    bounds: boundPair(amounts),
  });
  return fc.record({
    rows: fc.array(row, { minLength: 1, maxLength: 6 }).map((made) => {
      let after = new Decimal(0);
      return made.map(({ width, bounds, flatRate, ...rest }): Row => {
        const start = after.toFixed();
        after = add(after, new Decimal(width));
        return { ...rest, after: start, ...bounds, ...(flatRate !== undefined && { flatRate }) };
      });
    }),
    bounds: boundPair(amounts),
  });
}

/** Cards of hundredths. */
export const decimalCards: fc.Arbitrary<RandomCard> = cards(
  fc.integer({ min: 1, max: 5001 }).map((units) => new Decimal(`${units}e-2`).toFixed()),
  hundredths(2000),
);
/** Both pricing models. */
export const pricingModels: fc.Arbitrary<"TIERED" | "VOLUME"> = fc.constantFrom("TIERED", "VOLUME");
