import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { planCurves } from "../../src/analysis/plan-curves.ts";
import {
  type Breakpoint,
  priceCurve,
  type PricePiece,
  curveEdges,
  fallingPieces,
  priceAtQuantity,
} from "../../src/analysis/price-curve.ts";
import { parseBook } from "../../src/book/book.ts";
import type { PricePlanDetails } from "../../src/book/resources/price-plan.ts";
import { DAY_MS } from "../../src/calendar/instant.ts";
import { preview } from "../../src/index.ts";
import { add, Decimal, formatDecimal, maximum, sum, ZERO } from "../../src/numbers/decimal.ts";
import { decimalOfFraction } from "../../src/numbers/fraction.ts";
import { rateBillingEntitlement, rateCreditGrant, rateFixedFee, isChargedIn } from "../../src/rating/cards.ts";
import { priceQuantity } from "../../src/rating/slab-charge.ts";
import { bookArbitrary } from "../../src/testing/book-arbitrary.ts";
import {
  decimalCardArbitrary,
  pricingModelArbitrary,
  createRatePlan,
  createRateValue,
  type SlabRow,
  hundredthsArbitrary,
  slabCardArbitrary,
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
});

function requireItem<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new TypeError(`expected an item ${index}`);
  return item;
}

const edges = (model: "TIERED" | "VOLUME", rows: readonly SlabRow[], bounds = {}): readonly string[] =>
  curveEdges(priceCurve(createRatePlan(model, rows), createRateValue(rows, bounds), { upTo: 150 })).map(
    ({ at, kind, below, above, slab, isSlabEdge }) =>
      `${kind} at ${formatDecimal(at.quantity)}: ${formatDecimal(below)}, ${formatDecimal(above)}, slab ${slab}${isSlabEdge ? "" : " itself"}`,
  );

describe("S7 the edges of a curve", () => {
  test.each([
    [
      "S7.2 VOLUME falls where its rate drops",
      "VOLUME",
      [
        { after: 0, rate: 25 },
        { after: 20, rate: 20 },
      ],
      {},
      ["TURN at 0: 0, 0, slab 1 itself", "FALL at 20: 500, 400, slab 2"],
    ],
    [
      "S7.5 a flat slab jumps above nothing, and TIERED turns where the next begins",
      "TIERED",
      [
        { after: 0, rate: 10, type: "FLAT" },
        { after: 10, rate: 1 },
      ],
      {},
      ["JUMP at 0: 0, 10, slab 1 itself", "TURN at 10: 10, 10, slab 2"],
    ],
    [
      "S7.4 a bound turns the curve within a slab",
      "TIERED",
      [{ after: 0, rate: 2 }],
      { minimumRate: 50 },
      ["TURN at 0: 50, 50, slab 1 itself", "TURN at 25: 50, 50, slab 1 itself"],
    ],
  ] as const)("%s", (_, model, rows, bounds, expected) => {
    expect(edges(model, rows, bounds)).toEqual(expected);
  });

  test("an edge within a slab is described by its piece", () => {
    const rows = [
      { after: 0, rate: 2 },
      { after: 100, rate: -1 },
    ];
    const curve = priceCurve(createRatePlan("TIERED", rows), createRateValue(rows), { upTo: 150 });
    expect(
      fallingPieces(curve).map(({ slab, first, last }) => [slab, formatDecimal(first), formatDecimal(last)]),
    ).toEqual([[2, "200", "150"]]);
  });

  test.each(["-1", "150.01"])("there is no price for %s, which is outside the curve", (quantity) => {
    const rows = [{ after: 0, rate: 1 }];
    const curve = priceCurve(createRatePlan("TIERED", rows), createRateValue(rows), { upTo: 150 });
    expect(() => priceAtQuantity(curve, new Decimal(quantity))).toThrow("is not on the curve");
  });

  /** Including rates below zero. */
  const anyCards = fc.oneof(
    decimalCardArbitrary(),
    slabCardArbitrary(
      hundredthsArbitrary(4000).map((width) => add(new Decimal(width), new Decimal("0.01")).toFixed()),
      hundredthsArbitrary(900),
    ).map(({ rows, bounds }) => ({
      rows: rows.map((row, index) => (index % 2 === 0 ? row : { ...row, rate: `-${row.rate}` })),
      bounds,
    })),
  );

  test("S7 the price from a curve equals the price of the quantity to the last digit, and pieces have no gaps", () => {
    fc.assert(
      fc.property(
        anyCards,
        pricingModelArbitrary(),
        fc.integer({ min: 1, max: 30_000 }),
        fc.array(fc.nat(30_000), { minLength: 1, maxLength: 20 }),
        ({ rows, bounds }, model, most, hundredths) => {
          const [plan, rates] = [createRatePlan(model, rows), createRateValue(rows, bounds)];
          const priceOf = (quantity: Decimal): string => formatDecimal(priceQuantity(plan, rates, quantity).amount);
          const curve = priceCurve(plan, rates, { upTo: new Decimal(`${most}e-2`) });
          const { pieces } = curve;
          expect(pieces.map(({ from }) => shownAt(from))).toEqual([
            "0",
            ...pieces.slice(0, -1).map(({ until }) => shownAt(until)),
          ]);
          for (const { until, last } of pieces.filter((piece) => piece.until.ratio === undefined))
            expect(formatDecimal(last)).toBe(priceOf(until.quantity));
          for (const units of hundredths.map((each) => Math.min(each, most))) {
            const quantity = new Decimal(`${units}e-2`);
            expect(formatDecimal(priceAtQuantity(curve, quantity))).toBe(priceOf(quantity));
          }
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe("S13.3 the curves of a plan", () => {
  const cycle = { start: 0, end: DAY_MS };
  const period = { served: cycle, natural: cycle };

  /** The charges of cycle `n` that do not depend on usage, card by card as invoices show them. */
  const fixedCharges = (plan: PricePlanDetails, n: number): Decimal =>
    sum([
      ...plan.fixedFeeRateCards
        .filter(({ recurrenceConfig, type }) => isChargedIn(recurrenceConfig, type, n))
        .map((card) => decimalOfFraction(rateFixedFee(card, "USD", period).bounded)),
      ...plan.billingEntitlementRateCards
        .filter(({ recurrenceConfig }) => isChargedIn(recurrenceConfig, "RECURRING", n))
        .map((card) => decimalOfFraction(rateBillingEntitlement(card, "USD", period).bounded)),
      ...plan.creditGrantRateCards
        .filter(({ recurrenceConfig, type }) => isChargedIn(recurrenceConfig, type, n))
        .map((card) => decimalOfFraction(rateCreditGrant(card, "USD", period).bounded)),
    ]);

  test("the total of any quantity is the sum of all cards, at least the commitment", () => {
    fc.assert(
      fc.property(
        bookArbitrary({ groups: {} }),
        fc.nat(2),
        fc.nat(2000),
        fc.nat(2000),
        (input, number, units, currentSeats) => {
          const plan = parseBook(input).pricePlans[number % (input.pricePlans ?? []).length]?.pricePlanDetails;
          if (plan === undefined) return;
          const n = 1 + (units % 4);
          const cards = [...plan.usageRateCards, ...plan.licenseRateCards, ...plan.entitlementOverageRateCards];
          const idOf = (card: (typeof cards)[number]): string =>
            "usageMeterId" in card ? card.usageMeterId : "featureId" in card ? card.featureId : card.id;
          const quantities = Object.fromEntries(cards.map((card) => [idOf(card), `${currentSeats}e-1`]));
          const curves = planCurves(plan, { currency: "USD", quantities, upTo: 200, cycle: n });
          expect(curves.cards).toHaveLength(cards.length);
          const quantity = new Decimal(`${units}e-1`);
          for (const [index, card] of cards.entries()) {
            const price = (each: (typeof cards)[number], of: Decimal): Decimal =>
              priceQuantity(each.ratePlan, requireItem(each.rateValues, 0), of).amount;
            const others = cards
              .filter((each) => each !== card)
              .map((each) => price(each, new Decimal(`${currentSeats}e-1`)));
            const whole = sum([fixedCharges(plan, n), ...others, price(card, quantity)]);
            const least = plan.minimumCommitment?.rateValues[0]?.rate;
            const expected = least === undefined ? whole : maximum(least, whole);
            expect(formatDecimal(priceAtQuantity(requireItem(curves.cards, index).total, quantity))).toBe(
              formatDecimal(expected),
            );
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  const book = parseBook({
    eventSchemas: [{ name: "usage", attributes: ["quantity"] }],
    usageMeters: [{ id: "um.used", name: "Usage", schema: "usage", sum: "quantity" }],
    pricePlans: [
      {
        id: "pp",
        cycle: "MONTHLY",
        usage: [{ meter: "um.used", tiers: [{ upTo: 40, rate: 2, maximum: 30 }, { rate: 1 }] }],
        fees: [{ id: "fee", rate: 7 }],
        commitment: 20,
      },
    ],
    accounts: [{ id: "acct", plan: "pp", from: "2026-01-01" }],
  });
  const plan = requireItem(book.pricePlans, 0);

  test("breakpoints of the total are where the commitment is reached and where bounds start to apply", () => {
    // 7 + 2 × 6.5 = 20; the slab reaches its maximum of 30 at 15 units.
    const [card] = planCurves(plan.pricePlanDetails).cards;
    expect(card?.total.pieces.map(({ from, first, rate }) => [from, first, rate].map(formatQuantity))).toEqual([
      ["0", "20", "0"],
      ["6.5", "20", "2"],
      ["15", "37", "0"],
      ["40", "37", "1"],
    ]);
    expect(formatQuantity(card?.total.atZero)).toBe("20");
    expect(formatQuantity(card?.upTo)).toBe("60");
  });

  test.each([0, 3, 6, 7, 15, 16, 40, 55])("equals the invoice of %s units", (units) => {
    const event = {
      schemaName: "usage",
      id: "e",
      accountId: "acct",
      timestamp: "2026-01-05T00:00:00Z",
      attributes: [{ name: "quantity", value: units }],
      dimensions: {},
    };
    const { invoices } = preview(book, [event], { from: "2026-01-01", until: "2026-02-01" });
    const total = sum(invoices.map(({ revenueInfo }) => revenueInfo.value));
    const curve = requireItem(planCurves(plan.pricePlanDetails).cards, 0).total;
    expect(formatDecimal(priceAtQuantity(curve, new Decimal(units)))).toBe(formatDecimal(total));
  });

  test.each([
    [{ currency: "EUR" }, "there are no rates in EUR for um.used"],
    [{ upTo: 0 }, "upTo: expected more than 0, got 0"],
    [{ quantities: { "um.used": "many" } }, '"many" is not a decimal'],
  ])("rejects %o", (options, message) => {
    expect(() => planCurves(plan.pricePlanDetails, options)).toThrow(message);
  });

  const formatQuantity = (value: Decimal | { readonly quantity: Decimal } = ZERO): string =>
    formatDecimal("quantity" in value ? value.quantity : value);

  test("S7 chart ranges include the last slab, four packages and the end of a bound, and stay within the largest quantity", () => {
    const upTo = (rows: readonly SlabRow[], bounds = {}, most?: number): string => {
      const card = {
        id: "fee",
        ratePlan: createRatePlan("TIERED", rows),
        rateValues: [createRateValue(rows, bounds)],
        config: { maxQuantity: most },
      };
      const details = { ...plan.pricePlanDetails, usageRateCards: [], licenseRateCards: [card] };
      return formatQuantity(planCurves(details as unknown as PricePlanDetails).cards[0]?.upTo);
    };
    expect(upTo([{ after: 0, rate: 1 }])).toBe("100");
    expect(upTo([{ after: 0, rate: 1, type: "PACKAGE", packageSize: 1_000_000 }])).toBe("6000000");
    expect(upTo([{ after: 0, rate: 2 }], { maximumRate: 500 })).toBe("400");
  });
});
