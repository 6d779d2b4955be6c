import fc from "fast-check";
import { expect, test } from "vitest";

import { hasCode } from "../../src/errors.ts";
import {
  add,
  Decimal,
  decimalOfInteger,
  divide,
  formatDecimal,
  multiply,
  parseDecimal,
  subtract,
} from "../../src/numbers/decimal.ts";
import {
  addExact,
  compareExact,
  decimalOfExact,
  divideExact,
  exactOfDecimal,
  exactOfNumber,
  exactOfText,
  isZeroExact,
  multiplyExact,
  negateExact,
  remainderExact,
  roundExact,
  Scaled,
  subtractExact,
  formatExact,
} from "../../src/numbers/exact.ts";
import type { Exact } from "../../src/numbers/exact.ts";
import { anyDecimalText } from "./arbitraries.ts";

/** decimal.js with far more digits than any result here needs, or with 34, rounded half up. */
const Wide = Decimal.clone({ precision: 3000 });
const Quotient = Decimal.clone({ precision: 34, rounding: Decimal.ROUND_HALF_UP });

function exact(text: string): Exact {
  const value = exactOfText(text);
  if (value === undefined) throw new Error(`${text} is not a decimal`);
  return value;
}

/** The same value in a form that is not normalized: with zeros at the end of the mantissa. */
function padZeros(value: Exact, zeros: number): Exact {
  if (zeros === 0 || isZeroExact(value)) return value;
  const decimal = decimalOfExact(value);
  const scale = Math.max(0, decimal.decimalPlaces()) + zeros;
  const mantissa = BigInt(new Wide(decimal).times(new Wide(10).pow(scale)).toFixed(0));
  const isSafe = mantissa <= 9_007_199_254_740_991n && mantissa >= -9_007_199_254_740_991n;
  return new Scaled(isSafe ? Number(mantissa) : mantissa, scale);
}

const operand = fc.tuple(anyDecimalText, fc.constantFrom(0, 0, 0, 1, 5, 20));

function checkForm(value: Exact): void {
  if (typeof value === "number") {
    expect(Number.isSafeInteger(value) && !Object.is(value, -0)).toBe(true);
    return;
  }
  expect(Number.isInteger(value.scale) && value.scale >= 0 && value.scale <= 1000).toBe(true);
  if (typeof value.mantissa === "number") {
    expect(Number.isSafeInteger(value.mantissa) && value.mantissa !== 0).toBe(true);
  } else {
    expect(Number.isSafeInteger(Number(value.mantissa))).toBe(false);
  }
}

test.each<[string, (a: Exact, b: Exact) => Exact, (a: Decimal, b: Decimal) => Decimal]>([
  ["S1.4 sums equal those", addExact, (a, b) => a.plus(b)],
  ["S1.4 differences equal those", subtractExact, (a, b) => a.minus(b)],
  ["S1.4 products equal those", multiplyExact, (a, b) => a.times(b)],
  ["S1.4 quotients equal those at 34 digits, rounded half up,", divideExact, (a, b) => new Quotient(a).div(b)],
  ["S3.2 remainders equal those", remainderExact, (a, b) => a.mod(b)],
])("%s of decimal.js", (_, ours, theirs) => {
  fc.assert(
    fc.property(operand, operand, ([textA, zerosA], [textB, zerosB]) => {
      const [a, b] = [padZeros(exact(textA), zerosA), padZeros(exact(textB), zerosB)];
      fc.pre(!isZeroExact(b) || (ours !== divideExact && ours !== remainderExact));
      const result = ours(a, b);
      expect(formatExact(result)).toBe(formatDecimal(theirs(new Wide(textA), new Wide(textB))));
      checkForm(result);
    }),
    { numRuns: 1000 },
  );
});

test("S3.2 comparisons equal those of decimal.js", () => {
  fc.assert(
    fc.property(operand, operand, ([textA, zerosA], [textB, zerosB]) => {
      const [a, b] = [padZeros(exact(textA), zerosA), padZeros(exact(textB), zerosB)];
      expect(Math.sign(compareExact(a, b))).toBe(new Wide(textA).cmp(textB));
      expect(compareExact(a, padZeros(a, 3))).toBe(0);
    }),
    { numRuns: 500 },
  );
});

test("S3.4 rounding equals that of decimal.js", () => {
  const modes = { round: Decimal.ROUND_HALF_UP, floor: Decimal.ROUND_FLOOR, ceil: Decimal.ROUND_CEIL } as const;
  fc.assert(
    fc.property(
      operand,
      fc.integer({ min: -25, max: 25 }),
      fc.constantFrom("round" as const, "floor" as const, "ceil" as const),
      ([text, zeros], places, mode) => {
        const unit = new Wide(10).pow(-places);
        const expected = new Wide(text).div(unit).toDecimalPlaces(0, modes[mode]).times(unit);
        const result = roundExact(padZeros(exact(text), zeros), places, mode);
        expect(formatExact(result)).toBe(formatDecimal(expected));
        checkForm(result);
      },
    ),
    { numRuns: 500 },
  );
});

test("S1.2 a parsed text is formatted as its plain decimal", () => {
  fc.assert(
    fc.property(operand, ([text, zeros]) => {
      const value = padZeros(exact(text), zeros);
      const plain = formatDecimal(new Wide(text));
      expect(formatExact(value)).toBe(plain);
      expect(formatDecimal(decimalOfExact(value))).toBe(plain);
      expect(formatExact(exactOfDecimal(new Decimal(text)))).toBe(plain);
      expect(formatExact(negateExact(value))).toBe(formatDecimal(new Wide(text).negated()));
      checkForm(exact(text));
    }),
    { numRuns: 500 },
  );
});

test("S1.2 an integer over a power of ten becomes the object that decimal.js creates from its text", () => {
  const digits = ({ s, e, d, constructor }: Decimal): unknown => ({ s, e, d, constructor });
  const integer = fc.oneof(fc.integer({ min: -20_000, max: 20_000 }), fc.integer(), fc.maxSafeInteger());
  const zeros = fc.constantFrom(1, 1, 10, 1_000_000, 10_000_000);
  fc.assert(
    fc.property(integer, zeros, fc.nat({ max: 9 }), (count, factor, scale) => {
      const value = Number.isSafeInteger(count * factor) ? count * factor : count;
      expect(digits(decimalOfInteger(value, scale))).toStrictEqual(digits(new Decimal(`${value}e-${scale}`)));
    }),
    { numRuns: 2000 },
  );
});

test("S1.2 a number is formatted as its shortest text, however it was computed", () => {
  const number = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc
      .tuple(fc.integer({ min: -100_000_000, max: 100_000_000 }), fc.integer({ min: 0, max: 9 }))
      .map(([mantissa, places]) => mantissa / 10 ** places),
    fc
      .tuple(fc.double({ min: -1e6, max: 1e6, noNaN: true }), fc.integer({ min: 0, max: 8 }))
      .map(([value, places]) => Number(value.toFixed(places))),
  );
  fc.assert(
    fc.property(number, (value) => {
      const read = exactOfNumber(value);
      if (Math.abs(value) > Number.MAX_SAFE_INTEGER) expect(read).toBeUndefined();
      else {
        expect(read === undefined ? undefined : formatExact(read)).toBe(formatDecimal(new Wide(String(value))));
        checkForm(read ?? Number.NaN);
      }
    }),
    { numRuns: 1000 },
  );
});

test("S1.2 a text is a decimal here exactly if it is one in the public API", () => {
  const piece = fc.constantFrom(..."0 1 9 12 00 . - + e E e- x N 1000 _ ,".split(" "), " ");
  const texts = fc.array(piece, { maxLength: 8 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(texts, (text) => {
      const read = exactOfText(text);
      let face: string | undefined;
      try {
        face = formatDecimal(parseDecimal(text));
      } catch (error) {
        expect(hasCode(error, "ERR_NUMBER_INVALID")).toBe(true);
      }
      expect(read === undefined ? undefined : formatExact(read)).toBe(face);
    }),
    { numRuns: 1000 },
  );
});

test("S1.4 results at the limits of the range equal those of the public API, including errors", () => {
  const far = fc
    .tuple(fc.bigInt({ min: -(10n ** 60n), max: 10n ** 60n }), fc.integer({ min: -900, max: 900 }))
    .map(([mantissa, exponent]) => `${mantissa}e${exponent}`);
  const tryCompute = (compute: () => string): string => {
    try {
      return compute();
    } catch (error) {
      return hasCode(error, "ERR_ARITHMETIC") ? error.code : String(error);
    }
  };
  const pairs = [
    [addExact, add],
    [subtractExact, subtract],
    [multiplyExact, multiply],
    [divideExact, divide],
  ] as const;
  fc.assert(
    fc.property(fc.oneof(far, anyDecimalText), fc.oneof(far, anyDecimalText), (textA, textB) => {
      for (const [ours, face] of pairs) {
        expect(tryCompute(() => formatExact(ours(exact(textA), exact(textB))))).toBe(
          tryCompute(() => formatDecimal(face(new Decimal(textA), new Decimal(textB)))),
        );
      }
    }),
    { numRuns: 500 },
  );
});
