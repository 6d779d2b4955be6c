import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { type Breakpoint, priceCurve, type PricePiece } from "../../src/analysis/price-curve.ts";
import { add, Decimal, multiply, ONE, subtract, formatDecimal } from "../../src/numbers/decimal.ts";
import { priceQuantity } from "../../src/rating/slab-charge.ts";
import {
  decimalCardArbitrary,
  pricingModelArbitrary,
  createRatePlan,
  createRateValue,
  type SlabRow,
} from "../../src/testing/price-arbitrary.ts";

const shownAt = ({ quantity, ratio }: Breakpoint): string =>
  ratio === undefined
    ? formatDecimal(quantity)
    : `${formatDecimal(ratio.numerator)}/${formatDecimal(ratio.denominator)}`;
/** `(from, until] first..last rate`, with the package size for steps. */
const formatPiece = ({ from, until, first, last, rate, packageSize }: PricePiece): string =>
  `(${shownAt(from)}, ${shownAt(until)}] ${formatDecimal(first)}..${formatDecimal(last)} +${formatDecimal(rate)}${packageSize === undefined ? "" : ` a ${formatDecimal(packageSize)}`}`;
const curve = (model: "TIERED" | "VOLUME", rows: readonly SlabRow[], upTo: number, bounds = {}): readonly string[] =>
  priceCurve(createRatePlan(model, rows), createRateValue(rows, bounds), { upTo }).pieces.map(formatPiece);

describe("S7 the curve of a price", () => {
  const bands: readonly SlabRow[] = [
    { after: 0, rate: 2 },
    { after: 100, rate: 1 },
  ];

  test.each([
    ["S7.2 TIERED continues from slab to slab", "TIERED", bands, {}, ["(0, 100] 0..200 +2", "(100, 150] 200..250 +1"]],
    ["S7.2 VOLUME falls where its rate drops", "VOLUME", bands, {}, ["(0, 100] 0..200 +2", "(100, 150] 100..150 +1"]],
    [
      "S7.4 a card's bounds hold from a quantity to a quantity",
      "TIERED",
      bands,
      { minimumRate: 50, maximumRate: 230 },
      ["(0, 25] 50..50 +0", "(25, 100] 50..200 +2", "(100, 130] 200..230 +1", "(130, 150] 230..230 +0"],
    ],
    [
      "S7.4 a bound that begins at a third of a unit does so exactly",
      "TIERED",
      [{ after: 0, rate: 3, maximumRate: 10 }],
      {},
      ["(0, 10/3] 0..10 +3", "(10/3, 150] 10..10 +0"],
    ],
    [
      "S7.3 a run of packages is one piece",
      "TIERED",
      [{ after: 0, type: "PACKAGE", packageSize: 40, rate: 10 }],
      {},
      ["(0, 150] 10..40 +10 a 40"],
    ],
    [
      "S7.4 a bound that holds from a package on splits it",
      "TIERED",
      [{ after: 0, type: "PACKAGE", packageSize: 40, rate: 10, maximumRate: 25 }],
      {},
      ["(0, 80] 10..20 +10 a 40", "(80, 150] 25..25 +0"],
    ],
  ] as const)("%s", (_, model, rows, bounds, pieces) => {
    expect(curve(model, rows, 150, bounds)).toEqual(pieces);
  });

  test("rejects a largest quantity that is not above 0", () => {
    expect(() => curve("TIERED", bands, 0)).toThrow("upTo: expected more than 0, got 0");
  });

  /** Whether the piece has this price, by multiplying whole numbers without division. */
  const gives = (
    { from, first, rate, shape, packageSize, countedFrom }: PricePiece,
    at: Decimal,
    price: Decimal,
  ): boolean => {
    const difference = subtract(price, first);
    if (shape === "STEPS" && packageSize !== undefined && countedFrom !== undefined) {
      const before = subtract(from.quantity, countedFrom).divToInt(packageSize);
      const part = subtract(at, countedFrom);
      const full = part.divToInt(packageSize);
      const blockStart = multiply(full, packageSize).eq(part) ? full : add(full, ONE);
      return difference.eq(multiply(rate, subtract(blockStart, add(before, ONE))));
    }
    const { numerator, denominator } = from.ratio ?? { numerator: from.quantity, denominator: new Decimal(1) };
    const beyond = subtract(multiply(at, denominator), numerator);
    return multiply(difference, denominator).eq(multiply(rate, beyond));
  };

  test("is the price of every quantity, and has no gaps", () => {
    fc.assert(
      fc.property(
        decimalCardArbitrary(),
        pricingModelArbitrary(),
        fc.integer({ min: 0, max: 30_000 }),
        fc.integer({ min: 1, max: 30_000 }),
        ({ rows, bounds }, model, units, most) => {
          const quantity = new Decimal(`${Math.min(units, most)}e-2`);
          const [plan, rates] = [createRatePlan(model, rows), createRateValue(rows, bounds)];
          const { atZero, pieces } = priceCurve(plan, rates, { upTo: new Decimal(`${most}e-2`) });
          expect(pieces[0]?.from.quantity.isZero()).toBe(true);
          for (const [index, piece] of pieces.entries()) {
            const before = pieces[index - 1];
            if (before !== undefined) expect(shownAt(piece.from)).toBe(shownAt(before.until));
            if (piece.until.ratio !== undefined) continue;
            expect(formatDecimal(piece.last)).toBe(
              formatDecimal(priceQuantity(plan, rates, piece.until.quantity).amount),
            );
          }
          const { amount } = priceQuantity(plan, rates, quantity);
          if (quantity.isZero()) expect(formatDecimal(atZero)).toBe(formatDecimal(amount));
          else {
            const piece = pieces.find(({ until }) => {
              const { numerator, denominator } = until.ratio ?? {
                numerator: until.quantity,
                denominator: new Decimal(1),
              };
              return multiply(quantity, denominator).lte(numerator);
            });
            expect(piece !== undefined && gives(piece, quantity, amount)).toBe(true);
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
