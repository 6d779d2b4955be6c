import { Decimal as HostDecimal } from "decimal.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { hasCode } from "../../src/errors.ts";
import {
  add,
  Decimal,
  parseDecimal,
  divide,
  maximum,
  isDecimalObject,
  minimum,
  multiply,
  subtract,
  sum,
  formatDecimal,
  parseValue,
  DIGITS_MAX,
} from "../../src/numbers/decimal.ts";

describe("recognizing decimals", () => {
  test("a decimal is recognized whichever constructor created it", () => {
    expect([new Decimal(1), new HostDecimal(1), new (HostDecimal.clone())(1)].map(isDecimalObject)).toEqual([
      true,
      true,
      true,
    ]);
  });

  test.each<Readonly<Record<string, unknown>>>([
    { s: 1, e: 0, d: [5] },
    { s: 1, e: 0, d: 5 },
    { s: 1, e: 0, d: "abc" },
    { s: "x", e: "y", d: ["0"] },
  ])("S1.2 data with the mark of a decimal, %j, is not a decimal, whatever it contains", (parts) => {
    const forgery = { toStringTag: "[object Decimal]", ...parts };
    expect(isDecimalObject(forgery)).toBe(false);
    expect(() => parseDecimal(forgery)).toThrow("expected a decimal, got an object");
  });
});

describe("parsing decimals", () => {
  test.each([
    ["0.1", "0.1"],
    [0.1, "0.1"],
    [-0, "0"],
    ["-0.0", "0"],
    ["1e3", "1000"],
    [".5", "0.5"],
    ["5.", "5"],
    ["+5", "5"],
    [9_007_199_254_740_991, "9007199254740991"],
    [new Decimal("1.50"), "1.5"],
    ["9".repeat(100), "9".repeat(100)],
  ])("S1.2 %s is the decimal %s", (input, expected) => {
    expect(formatDecimal(parseDecimal(input))).toBe(expected);
  });

  test.each<[unknown, string]>([
    [Number.NaN, "NaN is not a decimal"],
    [Infinity, "Infinity is not a decimal"],
    ["NaN", '"NaN" is not a decimal'],
    ["0x1F", '"0x1F" is not a decimal'],
    ["1,000", '"1,000" is not a decimal'],
    ["", '"" is not a decimal'],
    [" 1", '" 1" is not a decimal'],
    ["1 000", '"1 000" is not a decimal'],
    ["x".repeat(70), `"${"x".repeat(60)}…" is not a decimal`],
    [2 ** 53, "the number 9007199254740992 is above 2^53, so its last digits may be lost; write it as a string"],
    [null, "expected a decimal, got null"],
    [undefined, "expected a decimal, got undefined"],
    [true, "expected a decimal, got a boolean"],
    [[1], "expected a decimal, got a list"],
    [{}, "expected a decimal, got an object"],
    [new Decimal(Number.NaN), "NaN is not a decimal"],
    ["1e1001", "the number has more than 100 significant digits or is beyond 10^1000"],
    ["1e-999999999", "the number has more than 100 significant digits or is beyond 10^1000"],
    ["1".repeat(101), "the number has more than 100 significant digits or is beyond 10^1000"],
  ])("S1.2 rejects a value that is not a decimal: %j", (input, message) => {
    expect(() => parseDecimal(input)).toThrow(expect.objectContaining({ code: "ERR_NUMBER_INVALID", message }));
  });

  test.each(["12345678901234567890.12345678901234567890", "-99999999999999999999", "1e-20", "1e19", "0e50"])(
    "S1.3 accepts a value of 20 integer and 20 fraction digits: %s",
    (text) => {
      expect(parseValue(text).eq(new Decimal(text))).toBe(true);
    },
  );

  test.each([
    ["123456789012345678901", '"123456789012345678901" has more than 20 digits before the point or 20 after it'],
    ["1e20", '"1e20" has more than 20 digits before the point or 20 after it'],
    ["1e400", '"1e400" has more than 20 digits before the point or 20 after it'],
    ["0.000000000000000000001", '"0.000000000000000000001" has more than 20 digits before the point or 20 after it'],
    [1e-21, '"1e-21" has more than 20 digits before the point or 20 after it'],
  ])("S1.3 rejects a value of more digits, and never rounds it: %s", (input, message) => {
    expect(() => parseValue(input)).toThrow(expect.objectContaining({ code: "ERR_NUMBER_INVALID", message }));
  });
});

describe("arithmetic on decimals", () => {
  const decimal = (text: string): Decimal => new Decimal(text);

  test("S1.1 0.1 * 3 is 0.3 and 0.1 + 0.2 is 0.3", () => {
    expect(formatDecimal(multiply(decimal("0.1"), decimal("3")))).toBe("0.3");
    expect(formatDecimal(add(decimal("0.1"), decimal("0.2")))).toBe("0.3");
    expect(formatDecimal(subtract(decimal("0.3"), decimal("0.1")))).toBe("0.2");
  });

  test("S1.4 a result that would need more than 100 digits is an error, never rounded", () => {
    const big = decimal(`1${"0".repeat(60)}`);
    expect(formatDecimal(add(big, decimal("1e-39")))).toBe(`1${"0".repeat(60)}.${"0".repeat(38)}1`);
    for (const compute of [
      () => add(big, decimal("1e-40")),
      () => subtract(big, decimal("1e-41")),
      () => multiply(decimal("9".repeat(51)), decimal("9".repeat(50))),
      () => multiply(decimal("1e600"), decimal("1e600")),
      () => sum([big, decimal("1e-40")]),
    ]) {
      expect(compute).toThrow(
        expect.objectContaining({ code: "ERR_ARITHMETIC", message: "a result needs more than 100 significant digits" }),
      );
    }
  });

  test("S1.4 division keeps 34 significant digits, rounded half up, and rejects zero", () => {
    expect(formatDecimal(divide(decimal("1"), decimal("3")))).toBe(`0.${"3".repeat(34)}`);
    expect(formatDecimal(divide(decimal("2"), decimal("3")))).toBe(`0.${"6".repeat(33)}7`);
    expect(() => divide(decimal("1"), decimal("0"))).toThrow(
      expect.objectContaining({ code: "ERR_ARITHMETIC", message: "division by zero" }),
    );
  });

  test("S1.4 configuring decimal.js in a program does not affect ratebook, or the other way round", () => {
    const before = { precision: HostDecimal.precision, rounding: HostDecimal.rounding };
    expect(before).toEqual({ precision: 20, rounding: 4 });
    HostDecimal.set({ precision: 3, rounding: HostDecimal.ROUND_DOWN, toExpPos: 2 });
    try {
      expect(formatDecimal(add(decimal("12345.6789"), decimal("0.0001")))).toBe("12345.679");
      expect(formatDecimal(divide(decimal("2"), decimal("3")))).toBe(`0.${"6".repeat(33)}7`);
      expect(formatDecimal(parseDecimal(new HostDecimal("123456789.123456789")))).toBe("123456789.123456789");
      expect(String(decimal("1e30"))).toBe(`1${"0".repeat(30)}`);
    } finally {
      HostDecimal.set({ precision: 20, rounding: 4, toExpPos: 21 });
    }
  });

  test("minimum, maximum and sum", () => {
    expect(formatDecimal(minimum(decimal("9"), decimal("10")))).toBe("9");
    expect(formatDecimal(maximum(decimal("9"), decimal("10")))).toBe("10");
    expect(formatDecimal(sum([decimal("0.1"), decimal("0.2"), decimal("-0.3")]))).toBe("0");
    expect(formatDecimal(sum([]))).toBe("0");
  });
});

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
