import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { Decimal, formatDecimal } from "../../src/numbers/decimal.ts";
import {
  addFractions,
  compareFractions,
  floorFraction,
  negateFraction,
  ZERO_FRACTION,
  roundFraction,
  multiplyByShare,
  subtractFractions,
  sumFractions,
  formatFraction,
  toFraction,
  type Fraction,
  type RoundingMode,
} from "../../src/numbers/fraction.ts";

function fraction(numerator: string, denominator = 1): Fraction {
  return { numerator: new Decimal(numerator), denominator };
}

describe("rounding a fraction", () => {
  test.each<[string, number, number, RoundingMode, string]>([
    ["0.125", 1, 2, "HALF_UP", "0.13"],
    ["0.125", 1, 2, "HALF_EVEN", "0.12"],
    ["0.129", 1, 2, "DOWN", "0.12"],
    ["-0.125", 1, 2, "HALF_EVEN", "-0.12"],
    ["-0.129", 1, 2, "DOWN", "-0.12"],
    ["-2", 3, 2, "DOWN", "-0.66"],
    // 53.333…: 100 for 16 of 30 days; 8.325: 9.99 for 25 of 30 days (S8.1).
    ["1600", 30, 2, "HALF_UP", "53.33"],
    ["249.75", 30, 2, "HALF_UP", "8.33"],
    ["249.75", 30, 2, "HALF_EVEN", "8.32"],
    ["-0.004", 1, 2, "HALF_UP", "0"],
  ])("S1.5 %s / %i to %i digits, %s, is %s", (numerator, denominator, digits, mode, expected) => {
    expect(formatDecimal(roundFraction(fraction(numerator, denominator), digits, mode))).toBe(expected);
  });
});

describe("exact fractions", () => {
  test("S8.2 shares of a whole add up to it, for any parts", () => {
    const amount = toFraction(new Decimal("99.99"));
    const thirds = [multiplyByShare(amount, 10, 31), multiplyByShare(amount, 10, 31), multiplyByShare(amount, 11, 31)];
    expect(compareFractions(sumFractions(thirds), amount)).toBe(0);
    expect(multiplyByShare(amount, 31, 31)).toBe(amount);
  });

  test("S8.2 fractions of different denominators add, subtract and compare exactly", () => {
    const sum = addFractions(fraction("1", 28), fraction("1", 30));
    expect([formatDecimal(sum.numerator), sum.denominator]).toEqual(["29", 420]);
    expect(compareFractions(fraction("1", 3), fraction("0.333333333333333333333333333333333333", 1))).toBeGreaterThan(
      0,
    );
    expect(compareFractions(fraction("2", 6), fraction("1", 3))).toBe(0);
    expect(formatFraction(subtractFractions(fraction("1", 4), fraction("1", 8)))).toBe("0.125");
    expect(sumFractions([])).toBe(ZERO_FRACTION);
    expect(formatDecimal(negateFraction(fraction("0")).numerator)).toBe("0");
    expect(formatDecimal(negateFraction(fraction("1.5")).numerator)).toBe("-1.5");
  });
});

describe("a fraction as text", () => {
  test.each([
    ["8.325", "249.75", 30],
    ["53.33333333333333333333333333333333", "1600", 30],
    ["0.125", "1", 8],
    [`0.${"3".repeat(34)}`, "1", 3],
    [`0.${"6".repeat(33)}7`, "2", 3],
    // 40 digits over 8 is exact, and longer than 34 digits.
    ["138888888888888888888888888888888888888.875", "1".repeat(40), 8],
  ])("S1.4 is %s for %s / %i, exact if it ends, else 34 digits", (text, numerator, denominator) => {
    expect(formatFraction(fraction(numerator, denominator))).toBe(text);
  });

  // 1/31 repeats with a period of 15 digits, some of them 0: cut at a 0, the text looks shorter than it is.
  test.each(["1063.436", "1015.498"])(
    "S1.4 has 34 digits for %s / 31, wherever its hundredth digit is a zero",
    (text) => {
      const numerator = new Decimal(text);
      expect(formatFraction({ numerator, denominator: 31 })).toBe(numerator.div(31).toSignificantDigits(34).toFixed());
    },
  );

  test("S1.4 exists for every amount and every number of days", () => {
    fc.assert(
      fc.property(fc.integer(), fc.nat(6), fc.integer({ min: 1, max: 3660 }), (units, places, denominator) => {
        const numerator = new Decimal(`${units}e-${places}`);
        const text = formatFraction({ numerator, denominator });
        const error = new Decimal(text).times(denominator).minus(numerator).abs();
        const exact = new Decimal(text).times(denominator).eq(numerator);
        expect(exact || new Decimal(text).precision() > 30).toBe(true);
        expect(error.lte(numerator.abs().times("1e-33"))).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});

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
