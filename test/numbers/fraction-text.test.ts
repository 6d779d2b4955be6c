import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { Decimal } from "../../src/numbers/decimal.ts";
import { formatFraction } from "../../src/numbers/fraction.ts";

describe("a fraction as text", () => {
  test.each([
    ["8.325", "249.75", 30],
    ["50", "1400", 28],
    ["53.33333333333333333333333333333333", "1600", 30],
  ])("S8.1 is %s for %s / %i", (text, numerator, denominator) => {
    expect(formatFraction({ numerator: new Decimal(numerator), denominator })).toBe(text);
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
