import { describe, expect, test } from "vitest";

import { Decimal } from "../../src/numbers/decimal.ts";
import {
  addExact,
  divideExact,
  exactOfDecimal,
  exactOfNumber,
  exactOfText,
  isExact,
  isZeroExact,
  mantissaOf,
  multiplyExact,
  negateExact,
  remainderExact,
  roundExact,
  Scaled,
  scaleOf,
  subtractExact,
  formatExact,
} from "../../src/numbers/exact.ts";
import type { Exact, PlacesRounding } from "../../src/numbers/exact.ts";

function exact(text: string): Exact {
  const value = exactOfText(text);
  if (value === undefined) throw new Error(`${text} is not a decimal`);
  return value;
}

const OPERATIONS = {
  "+": addExact,
  "-": subtractExact,
  "*": multiplyExact,
  "/": divideExact,
  "%": remainderExact,
} as const;

describe("exact arithmetic", () => {
  test.each<[string, keyof typeof OPERATIONS, string, string]>([
    ["9007199254740991", "+", "1", "9007199254740992"],
    ["-9007199254740991", "-", "1", "-9007199254740992"],
    ["9007199254740991", "*", "9007199254740991", "81129638414606663681390495662081"],
    ["9007199254740992", "-", "9007199254740991", "1"],
    ["1e20", "+", "1e-20", "100000000000000000000.00000000000000000001"],
    ["123456789012345678901234567890", "/", "10", "12345678901234567890123456789"],
    ["-7", "%", "3", "-1"],
    ["100000000000000000000", "%", "7", "2"],
  ])("S1.4 %s %s %s is %s", (a, operator, b, expected) => {
    expect(formatExact(OPERATIONS[operator](exact(a), exact(b)))).toBe(expected);
  });

  test("S1.4 a quotient is rounded half up at its 34th digit", () => {
    // 34 digits and a half: 1.000000000000000000000000000000000|5 × 10^0
    const dividend = exact(`1${"0".repeat(33)}5`);
    expect(formatExact(divideExact(dividend, exact(`1${"0".repeat(34)}`)))).toBe(`1.${"0".repeat(32)}1`);
    expect(formatExact(divideExact(negateExact(dividend), exact(`1${"0".repeat(34)}`)))).toBe(`-1.${"0".repeat(32)}1`);
    expect(formatExact(divideExact(exact(`1${"0".repeat(33)}4`), exact(`1${"0".repeat(34)}`)))).toBe("1");
    expect(formatExact(divideExact(exact("9".repeat(35)), 1))).toBe(`1${"0".repeat(35)}`);
  });

  test.each<[keyof typeof OPERATIONS, string, string]>([
    ["/", "1", "0"],
    ["%", "1", "0"],
    ["/", "0", "0"],
  ])("S3.2 a division by zero is an error: %s %s %s", (operator, a, b) => {
    expect(() => OPERATIONS[operator](exact(a), exact(b))).toThrow(
      expect.objectContaining({ code: "ERR_ARITHMETIC", message: "division by zero" }),
    );
  });

  test.each<[string, keyof typeof OPERATIONS, string]>([
    [`1${"0".repeat(60)}`, "+", `0.${"0".repeat(39)}1`],
    ["9".repeat(51), "*", "9".repeat(50)],
    ["1e600", "*", "1e500"],
    ["1e-600", "*", "1e-500"],
    ["1e600", "/", "1e-500"],
  ])("S1.4 a result of more than 100 digits, or beyond 10^1000, is an error: %s %s %s", (a, operator, b) => {
    expect(() => OPERATIONS[operator](exact(a), exact(b))).toThrow(expect.objectContaining({ code: "ERR_ARITHMETIC" }));
  });

  test("S1.4 a result of 100 digits is exact", () => {
    const sum = addExact(exact(`1${"0".repeat(59)}`), exact(`0.${"0".repeat(39)}1`));
    expect(formatExact(sum)).toBe(`1${"0".repeat(59)}.${"0".repeat(39)}1`);
  });

  test("S1.4 zeros at the end are not significant digits", () => {
    expect(formatExact(multiplyExact(exact("1e60"), exact("1e60")))).toBe(`1${"0".repeat(120)}`);
    expect(formatExact(multiplyExact(multiplyExact(exact("1e-300"), exact("1e300")), 5))).toBe("5");
  });

  test.each<[string, number, PlacesRounding, string]>([
    ["1250", -2, "round", "1300"],
    ["0.04", 1, "round", "0"],
    ["1201", -2, "ceil", "1300"],
  ])("S3.4 %s to %i places by %s is %s", (value, places, rounding, expected) => {
    expect(formatExact(roundExact(exact(value), places, rounding))).toBe(expected);
  });
});

describe("exact values", () => {
  test.each([
    ["0", 0],
    ["-0.0", 0],
    ["+7", 7],
    ["1e3", 1000],
    ["9007199254740991", 9_007_199_254_740_991],
    ["123456789012345", 123_456_789_012_345],
    ["1234567890123456", 1_234_567_890_123_456],
  ])("S1.2 the text %s is the safe integer %d", (text, expected) => {
    expect(exactOfText(text)).toBe(expected);
  });

  test.each([
    ["12345678901234567890.12345678901234567890", "12345678901234567890.1234567890123456789"],
    ["9007199254740992", "9007199254740992"],
    ["0.00000000000000000001", "0.00000000000000000001"],
  ])("S1.2 the text %s is the decimal %s", (text, expected) => {
    expect(formatExact(exact(text))).toBe(expected);
  });

  test.each(["", "0x10", "NaN", "Infinity"])("S1.2 the text %j is not a decimal", (text) => {
    expect(exactOfText(text)).toBeUndefined();
  });

  test.each(["1e1001", "1e-1001", "1e999999999", "9".repeat(101), "9".repeat(5000)])(
    "S1.4 a text out of range is not a decimal",
    (text) => {
      expect(exactOfText(text)).toBeUndefined();
    },
  );

  test.each([
    [1e-7, "0.0000001"],
    [5e-324, `0.${"0".repeat(323)}5`],
    [0.1 + 0.2, "0.30000000000000004"],
    [2_251_799_813_685_248.5, "2251799813685248.5"],
    [-0, "0"],
  ])("S1.2 the number %f has the shortest text %s", (value, expected) => {
    const read = exactOfNumber(value);
    expect(read === undefined ? undefined : formatExact(read)).toBe(expected);
  });

  test.each([Number.NaN, Infinity, -Infinity, 2 ** 53, -(2 ** 53), 1e300])("S1.2 rejects the number %d", (value) => {
    expect(exactOfNumber(value)).toBeUndefined();
  });

  test("S1.2 zero is never negative zero", () => {
    for (const zero of [
      exactOfNumber(-0),
      exactOfDecimal(new Decimal("-0")),
      multiplyExact(0, -1),
      negateExact(0),
      remainderExact(-4, 2),
    ]) {
      expect(zero).toBe(0);
    }
  });

  test("S1.1 an exact value is a safe integer or a mantissa with a scale", () => {
    expect([isExact(1), isExact(new Scaled(15, 1)), isExact("1"), isExact(null)]).toEqual([true, true, false, false]);
    expect([mantissaOf(3), scaleOf(3), mantissaOf(new Scaled(15, 1)), scaleOf(new Scaled(15, 1))]).toEqual([
      3, 0, 15, 1,
    ]);
    expect([isZeroExact(0), isZeroExact(new Scaled(15, 1))]).toEqual([true, false]);
  });
});
