import { describe, expect, test } from "vitest";

import { Decimal, formatDecimal } from "../../src/numbers/decimal.ts";
import {
  addFractions,
  compareFractions,
  decimalOfFraction,
  floorFraction,
  negateFraction,
  ZERO_FRACTION,
  roundFraction,
  multiplyByShare,
  subtractFractions,
  sumFractions,
  formatFraction,
  toFraction,
} from "../../src/numbers/fraction.ts";
import type { Fraction, RoundingMode } from "../../src/numbers/fraction.ts";

function fraction(numerator: string, denominator = 1): Fraction {
  return { numerator: new Decimal(numerator), denominator };
}

describe("rounding a fraction", () => {
  test.each<[string, number, number, RoundingMode, string]>([
    ["0.125", 1, 2, "HALF_UP", "0.13"],
    ["0.125", 1, 2, "HALF_EVEN", "0.12"],
    ["0.135", 1, 2, "HALF_EVEN", "0.14"],
    ["0.129", 1, 2, "DOWN", "0.12"],
    ["-0.125", 1, 2, "HALF_UP", "-0.13"],
    ["-0.125", 1, 2, "HALF_EVEN", "-0.12"],
    ["-0.135", 1, 2, "HALF_EVEN", "-0.14"],
    ["-0.129", 1, 2, "DOWN", "-0.12"],
    ["-0.124", 1, 2, "HALF_UP", "-0.12"],
    ["-0.126", 1, 2, "HALF_UP", "-0.13"],
    ["2.5", 1, 0, "HALF_UP", "3"],
    ["2.5", 1, 0, "HALF_EVEN", "2"],
    ["-2.5", 1, 0, "HALF_UP", "-3"],
    ["1", 3, 2, "HALF_UP", "0.33"],
    ["2", 3, 2, "HALF_UP", "0.67"],
    ["-2", 3, 2, "HALF_UP", "-0.67"],
    ["-2", 3, 2, "DOWN", "-0.66"],
    // 53.333…: 100 for 16 of 30 days; 8.325: 9.99 for 25 of 30 days (S8.1).
    ["1600", 30, 2, "HALF_UP", "53.33"],
    ["249.75", 30, 2, "HALF_UP", "8.33"],
    ["249.75", 30, 2, "HALF_EVEN", "8.32"],
    ["1400", 28, 2, "HALF_UP", "50"],
    ["0.0045", 1, 3, "HALF_EVEN", "0.004"],
    ["0.5", 1, 0, "HALF_EVEN", "0"],
    ["-0.004", 1, 2, "HALF_UP", "0"],
    ["7", 1, 2, "HALF_UP", "7"],
  ])("S1.5 %s / %i to %i digits, %s, is %s", (numerator, denominator, digits, mode, expected) => {
    expect(formatDecimal(roundFraction(fraction(numerator, denominator), digits, mode))).toBe(expected);
  });

  test.each([
    ["0.129", 1, "0.12"],
    ["-0.121", 1, "-0.13"],
    ["2", 3, "0.66"],
    ["-0.12", 1, "-0.12"],
  ])("S1.5 the whole minor units of %s / %i, rounded down, are %s", (numerator, denominator, expected) => {
    expect(formatDecimal(floorFraction(fraction(numerator, denominator), 2))).toBe(expected);
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

  test("S1.4 a fraction is its exact decimal if there is one, else 34 digits", () => {
    expect(formatFraction(fraction("1", 8))).toBe("0.125");
    expect(formatFraction(fraction("1", 1024))).toBe("0.0009765625");
    expect(formatFraction(fraction("1", 3))).toBe(`0.${"3".repeat(34)}`);
    expect(formatDecimal(decimalOfFraction(fraction("2", 3)))).toBe(`0.${"6".repeat(33)}7`);
    // 40 digits over 8 is exact, and longer than 34 digits.
    const long = "1".repeat(40);
    expect(formatFraction(fraction(long, 8))).toBe("138888888888888888888888888888888888888.875");
  });
});
