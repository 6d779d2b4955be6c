import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { add, Decimal, subtract, sum } from "../../src/numbers/decimal.ts";
import {
  compareFractions,
  type Fraction,
  subtractFractions,
  sumFractions,
  toFraction,
} from "../../src/numbers/fraction.ts";
import { type SlabCharge, type CardValues, roundLines } from "../../src/rating/charge.ts";
import { d } from "./cards.ts";

type Rounding = Parameters<typeof roundLines>[2];
type Part = readonly [numerator: number | string, denominator: number];

const fraction = ([numerator, denominator]: Part): Fraction => ({ numerator: d(numerator), denominator });

/** A charge of slabs with these exact amounts. */
function buildCharge(
  parts: readonly Part[],
  bounded?: Part,
): { slabs: SlabCharge[]; charged: Fraction; bounded: Fraction } {
  const slabs = parts.map((part, index) => ({ order: index + 1, quantity: d(1), rate: d(1), amount: fraction(part) }));
  const sumOfSlabs = sumFractions(slabs.map(({ amount }) => amount));
  return { slabs, charged: sumOfSlabs, bounded: bounded === undefined ? sumOfSlabs : fraction(bounded) };
}

function formatValues({ value, slabs, adjustment }: CardValues): readonly [string, readonly string[], string] {
  return [value.toFixed(), slabs.map((slab) => slab.toFixed()), adjustment.toFixed()];
}

describe("S1.5 one rounding for a card's line", () => {
  const [third, cent] = [
    [1, 3],
    ["0.01", 1],
  ] as const;
  test.each<[string, readonly Part[], Rounding, readonly string[]]>([
    // 0.333… + 0.666… + 1 is 2: rounded down 0.33, 0.66 and 1.00, and the missing cent goes to the second.
    ["missing units go to the largest remainders", [third, [2, 3], [1, 1]], "HALF_UP", ["2", "0.33", "0.67", "1"]],
    ["of equal remainders the lowest order is first", [third, third, third], "HALF_UP", ["1", "0.34", "0.33", "0.33"]],
    // −0.005 is rounded down to −0.01 and has the largest remainder; −0.005 + 0.01 is 0.005, rounded 0.01.
    ["a negative slab is rounded down too", [["-0.005", 1], cent], "HALF_UP", ["0.01", "0", "0.01"]],
    ["rounding down drops the remainders", [["0.019", 1]], "DOWN", ["0.01", "0.01"]],
    ["an even half", [["0.125", 1]], "HALF_EVEN", ["0.12", "0.12"]],
  ])("S1.5 slabs are rounded down: %s", (_, parts, mode, [value, ...slabs]) => {
    expect(formatValues(roundLines(buildCharge(parts), 2, mode))).toEqual([value, slabs, "0"]);
  });

  test("S7.4 the adjustment is the rounded bound minus the rounded charge", () => {
    // 10 ÷ 3 is 3.33, and 10.005 is 10.01.
    const lines = roundLines(buildCharge([[10, 3]], ["10.005", 1]), 2, "HALF_UP");
    expect(formatValues(lines)).toEqual(["10.01", ["3.33"], "6.68"]);
  });

  test("S1.5 a charge without slabs has only a value", () => {
    const charge = { slabs: [], charged: fraction([100, 3]), bounded: fraction([100, 3]) };
    expect(formatValues(roundLines(charge, 2, "HALF_UP"))).toEqual(["33.33", [], "0"]);
  });
});

test("S1.5 slabs and adjustment add up to the value, and every slab is less than a unit away from its exact amount", () => {
  const part = fc.tuple(fc.integer({ min: -100_000, max: 100_000 }), fc.integer({ min: 1, max: 366 }));
  fc.assert(
    fc.property(
      fc.array(part, { minLength: 1, maxLength: 8 }),
      fc.option(part, { nil: undefined }),
      fc.constantFrom("HALF_UP" as const, "HALF_EVEN" as const, "DOWN" as const),
      fc.constantFrom(0, 2, 3),
      (parts, limit, mode, digits) => {
        const charge = buildCharge(parts, limit);
        const { value, slabs, adjustment } = roundLines(charge, digits, mode);
        expect(add(sum(slabs), adjustment).toFixed()).toBe(value.toFixed());
        const unit = new Decimal(`1e-${digits}`);
        for (const [index, slab] of slabs.entries()) {
          const exact = charge.slabs[index]?.amount ?? toFraction(d(0));
          expect(compareFractions(subtractFractions(toFraction(slab), exact), toFraction(unit))).toBeLessThan(0);
          expect(compareFractions(subtractFractions(exact, toFraction(slab)), toFraction(unit))).toBeLessThan(0);
        }
        expect(subtract(value, adjustment).decimalPlaces()).toBeLessThanOrEqual(digits);
      },
    ),
  );
});
