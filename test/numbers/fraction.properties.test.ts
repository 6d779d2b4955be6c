import fc from "fast-check";
import { expect, test } from "vitest";

import { Decimal, formatDecimal } from "../../src/numbers/decimal.ts";
import { addFractions, compareFractions, floorFraction, roundFraction } from "../../src/numbers/fraction.ts";
import type { Fraction, RoundingMode } from "../../src/numbers/fraction.ts";

/** `mantissa × 10^-places ÷ denominator`. */
const parts = fc.record({
  mantissa: fc.oneof(fc.bigInt({ min: -2000n, max: 2000n }), fc.bigInt({ min: -(10n ** 38n), max: 10n ** 38n })),
  places: fc.integer({ min: 0, max: 12 }),
  denominator: fc.oneof(
    fc.constant(1),
    fc.constantFrom(2, 4, 8, 20, 28, 30, 31, 365),
    fc.integer({ min: 1, max: 40_000 }),
  ),
});
type Parts = typeof parts extends fc.Arbitrary<infer Value> ? Value : never;

function fractionOf({ mantissa, places, denominator }: Parts): Fraction {
  return { numerator: new Decimal(`${mantissa}e-${places}`), denominator };
}

/** Rounding by hand in whole numbers: first the absolute value, then the sign. */
function roundedUnits({ mantissa, places, denominator }: Parts, digits: number, mode: RoundingMode): bigint {
  const size = (mantissa < 0n ? -mantissa : mantissa) * 10n ** BigInt(digits);
  const divisor = BigInt(denominator) * 10n ** BigInt(places);
  const units = size / divisor;
  const twice = 2n * (size % divisor);
  const isUp = mode !== "DOWN" && (twice > divisor || (twice === divisor && (mode === "HALF_UP" || units % 2n === 1n)));
  const rounded = isUp ? units + 1n : units;
  return mantissa < 0n ? -rounded : rounded;
}

const digits = fc.constantFrom(0, 2, 3, 4);
const mode = fc.constantFrom<RoundingMode>("HALF_UP", "HALF_EVEN", "DOWN");

test("S1.5 rounding equals rounding whole numbers by hand", () => {
  fc.assert(
    fc.property(parts, digits, mode, (value, places, rounding) => {
      const expected = new Decimal(`${roundedUnits(value, places, rounding)}e-${places}`);
      expect(formatDecimal(roundFraction(fractionOf(value), places, rounding))).toBe(formatDecimal(expected));
    }),
    { numRuns: 500 },
  );
});

test("S1.5 the part cut off below the minor unit is at least 0 and less than one unit", () => {
  fc.assert(
    fc.property(parts, digits, (value, places) => {
      const fraction = fractionOf(value);
      const floor = { numerator: floorFraction(fraction, places), denominator: 1 };
      const above = addFractions(floor, { numerator: new Decimal(`1e-${places}`), denominator: 1 });
      expect(compareFractions(floor, fraction)).toBeLessThanOrEqual(0);
      expect(compareFractions(above, fraction)).toBeGreaterThan(0);
    }),
  );
});

test("S8.2 addition equals that of whole numbers over the product of the denominators", () => {
  fc.assert(
    fc.property(parts, parts, (first, second) => {
      const sum = addFractions(fractionOf(first), fractionOf(second));
      const places = 24;
      const scaledTo = ({ mantissa, places: own }: Parts): bigint => mantissa * 10n ** BigInt(places - own);
      const crossSum = scaledTo(first) * BigInt(second.denominator) + scaledTo(second) * BigInt(first.denominator);
      const denominator = BigInt(first.denominator) * BigInt(second.denominator);
      const numerator = BigInt(new Decimal(formatDecimal(sum.numerator)).mul(new Decimal(`1e${places}`)).toFixed(0));
      expect(numerator * denominator).toBe(crossSum * BigInt(sum.denominator));
    }),
  );
});
