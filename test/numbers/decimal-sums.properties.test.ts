/**
 * Sums, differences and products of decimals of any width equal those of whole numbers of their smallest digit (S1.4).
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { hasCode } from "../../src/errors.ts";
import { add, Decimal, DIGITS_MAX, multiply, subtract } from "../../src/numbers/decimal.ts";

/** A decimal as digits × 10^power. */
interface Digits {
  readonly digits: bigint;
  readonly power: number;
}

const anyDigits: fc.Arbitrary<Digits> = fc
  .tuple(
    fc.oneof(fc.bigInt({ min: -20_000_000n, max: 20_000_000n }), fc.bigInt({ min: -(10n ** 99n), max: 10n ** 99n })),
    fc.oneof(fc.integer({ min: -25, max: 25 }), fc.integer({ min: -900, max: 900 })),
  )
  .map(([digits, power]) => ({ digits, power }));

const decimalOf = ({ digits, power }: Digits): Decimal => new Decimal(`${digits}e${power}`);

/** The plain text of a result, or an error if it has too many digits. */
function toPlainText(compute: () => Decimal): string {
  try {
    const result = compute();
    return result.isZero() ? `${result.isNegative() ? "-" : ""}0` : result.toFixed();
  } catch (error) {
    if (hasCode(error, "ERR_ARITHMETIC")) return "refused";
    throw error;
  }
}

function expected({ digits, power }: Digits): string {
  if (digits === 0n) return "0";
  const significant = digits.toString().replace("-", "").replace(/0+$/, "").length;
  const exponent = digits.toString().replace("-", "").length - 1 + power;
  return significant > DIGITS_MAX || Math.abs(exponent) > 1000 ? "refused" : decimalOf({ digits, power }).toFixed();
}

function alignPowers(a: Digits, b: Digits): readonly [bigint, bigint, number] {
  const power = Math.min(a.power, b.power);
  return [a.digits * 10n ** BigInt(a.power - power), b.digits * 10n ** BigInt(b.power - power), power];
}

describe("S1.4 exact or rejected", () => {
  test("S1.4 a sum and a difference", () => {
    fc.assert(
      fc.property(anyDigits, anyDigits, (a, b) => {
        const [x, y, power] = alignPowers(a, b);
        expect(toPlainText(() => add(decimalOf(a), decimalOf(b)))).toBe(expected({ digits: x + y, power }));
        expect(toPlainText(() => subtract(decimalOf(a), decimalOf(b)))).toBe(expected({ digits: x - y, power }));
      }),
      { numRuns: 500 },
    );
  });

  test("S1.4 a product", () => {
    fc.assert(
      fc.property(anyDigits, anyDigits, (a, b) => {
        const product = { digits: a.digits * b.digits, power: a.power + b.power };
        expect(toPlainText(() => multiply(decimalOf(a), decimalOf(b)))).toBe(expected(product));
      }),
      { numRuns: 500 },
    );
  });
});
