/** Decimals of every size and shape, for the properties of numbers and rules. */
import fc from "fast-check";

/** A decimal's plain text with at most this many digits before and after the point, including zeros at either end. */
export function decimalText(integerDigits: number, fractionDigits: number): fc.Arbitrary<string> {
  const digits = (max: number): fc.Arbitrary<string> =>
    fc.oneof(
      fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: Math.min(max, 4) }).map((list) => list.join("")),
      fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: max }).map((list) => list.join("")),
      fc.nat({ max }).map((zeros) => "0".repeat(zeros)),
    );
  return fc
    .tuple(fc.constantFrom("", "-"), digits(integerDigits), digits(fractionDigits))
    .map(([sign, integer, fraction]) => `${sign}${integer || "0"}${fraction === "" ? "" : `.${fraction}`}`);
}

/** Decimals around every boundary of the arithmetic: small, at the limit of safe integers, long, and far below one. */
export const anyDecimalText: fc.Arbitrary<string> = fc.oneof(
  decimalText(3, 3),
  decimalText(20, 20),
  fc.integer({ min: -3, max: 3 }).map((offset) => String(9_007_199_254_740_991n + BigInt(offset))),
  fc.integer({ min: -1000, max: 1000 }).map(String),
  fc.tuple(fc.integer({ min: -999, max: 999 }), fc.integer({ min: -30, max: 30 })).map(([m, e]) => `${m}e${e}`),
);
