import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { lintBook } from "../../../src/analysis/lint/lint-book.ts";
import { parseBook } from "../../../src/book/book.ts";
import type { Book, BookInput } from "../../../src/book/resources/book.ts";
import { hasCode } from "../../../src/errors.ts";
import { add, Decimal } from "../../../src/numbers/decimal.ts";
import { priceQuantity } from "../../../src/rating/slab-charge.ts";
import {
  type CardBounds,
  decimalCardArbitrary,
  pricingModelArbitrary,
  createRatePlan,
  createRateValue,
  type SlabRow,
} from "../../../src/testing/price-arbitrary.ts";
import { planOfMonths, slabs, sumMeter } from "../../book/builder.ts";
import { createSlabPricing } from "../../rating/cards.ts";

const countMeter = (computations: readonly object[]) => ({
  id: "um.calls",
  name: "calls",
  status: "ACTIVE" as const,
  aggregation: "COUNT" as const,
  eventSchemaName: "call",
  computations,
});

/** A book of one schema, whose plan has these details. */
const bookOfPlan = (details: object, more: object = {}) =>
  parseBook({
    organization: { id: "acme" },
    eventSchemas: [{ name: "call", attributes: [{ name: "units" }], dimensions: [{ name: "region" }] }],
    usageMeters: [sumMeter("um.units", "call", "units")],
    features: [{ id: "seconds", name: "seconds" }],
    addOns: [
      { id: "addon.seats", name: "Seats", type: "LICENSE" },
      { id: "addon.fee", name: "Platform", type: "FIXED_FEE" },
      { id: "addon.support", name: "Support", type: "FIXED_FEE" },
      { id: "addon.bonus", name: "Bonus", type: "CREDIT_GRANT" },
    ],
    pricePlans: [planOfMonths("pp", { usageRateCards: [usageCard(slabs("TIERED", [0, 1]))], ...details })],
    customers: [{ id: "contoso", name: "Contoso" }],
    ...more,
  });
const usageCard = (pricing: object): object => ({ usageMeterId: "um.units", ...pricing });
const withUsage = (model: "TIERED" | "VOLUME", rows: readonly SlabRow[], bounds?: CardBounds, more: object = {}) =>
  bookOfPlan({ usageRateCards: [usageCard(createSlabPricing(model, rows, bounds))] }, more);
const usageOf = (model: "TIERED" | "VOLUME", ...rows: readonly SlabRow[]) => withUsage(model, rows);
const feeOf = (id: string, rate: number | string, more: object = {}): object => ({
  id,
  rateValues: [{ currency: "USD", rate }],
  ...more,
});
const seatCards = (pricing: object, maxQuantity: number): object => ({
  licenseRateCards: [{ id: "addon.seats", config: { maxQuantity }, ...pricing }],
});
const entitlement = { featureId: "seconds", featureConfigs: [{ featureCreditLimit: 100, effectiveUntil: "P1M" }] };

/** Every finding as `level code at: example`. */
const describeFindings = (book: Book, options = {}): readonly string[] =>
  lintBook(book, options).map(({ level, code, at, example }) => `${level} ${code} ${at}: ${example ?? ""}`);

describe("lint of a card's curve", () => {
  test("finds nothing in a plain TIERED price", () => {
    expect(describeFindings(usageOf("TIERED", { after: 0, rate: 2 }, { after: 100, rate: 1 }))).toEqual([]);
  });

  test.each([
    [
      "S7.2 a VOLUME price that falls where its rate drops is a note",
      usageOf("VOLUME", { after: 0, rate: 25 }, { after: 20, rate: 20 }),
      ['note PRICE_FALLS pp@1/usage/um.units/slab/2: 20 of "units" cost 500.00 USD, 21 cost 420.00 USD'],
    ],
    [
      "S7.4 a flat rate that only the first VOLUME slab has makes users of more pay less",
      usageOf("VOLUME", { after: 0, rate: 1, flatRate: 50 }, { after: 10, rate: 1 }),
      ['warning PRICE_FALLS pp@1/usage/um.units/slab/2: 10 of "units" cost 60.00 USD, 11 cost 11.00 USD'],
    ],
    [
      "S7.4 a maximum of a VOLUME slab that the one below does not have",
      usageOf("VOLUME", { after: 0, rate: 2 }, { after: 100, rate: 2, maximumRate: 150 }),
      ['warning PRICE_FALLS pp@1/usage/um.units/slab/2: 100 of "units" cost 200.00 USD, 101 cost 150.00 USD'],
    ],
    [
      "S7.3 packages: 10 of size 10 cost 100, one of size 100 costs 90",
      usageOf(
        "VOLUME",
        { after: 0, type: "PACKAGE", packageSize: 10, rate: 10 },
        { after: 100, type: "PACKAGE", packageSize: 1000, rate: 90 },
      ),
      ['warning PRICE_FALLS pp@1/usage/um.units/slab/2: 100 of "units" cost 100.00 USD, 101 cost 90.00 USD'],
    ],
    [
      "a rate below zero",
      usageOf("TIERED", { after: 0, rate: 2 }, { after: 100, rate: -1 }),
      ['warning PRICE_FALLS pp@1/usage/um.units/slab/2: 100 of "units" cost 200.00 USD, 101 cost 199.00 USD'],
    ],
    [
      "a rate below zero after a flat rate: above 100 the price is 220 and falls to 210",
      usageOf("TIERED", { after: 0, rate: 2 }, { after: 100, rate: -1, flatRate: 20 }, { after: 110, rate: 3 }),
      ['warning PRICE_FALLS pp@1/usage/um.units/slab/2: 105 of "units" cost 215.00 USD, 106 cost 214.00 USD'],
    ],
    [
      "a flat rate of more than all before is a jump",
      usageOf("TIERED", { after: 0, rate: 1 }, { after: 10, rate: 1, flatRate: 11 }),
      ['warning PRICE_JUMPS pp@1/usage/um.units/slab/2: 10 of "units" cost 10.00 USD, 11 cost 22.00 USD'],
    ],
    [
      "S10.1 a slab above the largest number of seats",
      bookOfPlan(seatCards(slabs("TIERED", [0, 9], [50, 8]), 50)),
      ["warning SLAB_UNREACHABLE pp@1/license/addon.seats/slab/2: the slab starts after 50, and 50 is not above 50"],
    ],
    [
      "S1.5 a digit that no quantity in its slab makes visible: 10 × 0.0002 is below half a cent",
      usageOf("TIERED", { after: 0, rate: "0.1002" }, { after: 10, rate: "0.1" }),
      ["note RATE_TOO_FINE pp@1/usage/um.units/slab/1: 10 times 0.1002 is 1.00 USD, and 10 times 0.1 is 1.00 USD"],
    ],
  ])("%s", (_, book, findings) => {
    expect(describeFindings(book)).toEqual(findings);
  });

  test("reports no empty VOLUME slab for one between two whole numbers", () => {
    const slabPricing = slabs("VOLUME", [0, 1], [10, 2], [10.5, 3]);
    const book = bookOfPlan(
      { usageRateCards: [{ usageMeterId: "um.calls", ...slabPricing }] },
      { usageMeters: [countMeter([{ order: 1 }])] },
    );
    expect(describeFindings(book)).toEqual([
      "warning SLAB_UNREACHABLE pp@1/usage/um.calls/slab/2: there is no whole number above 10 up to 10.5",
    ]);
  });

  test("a smaller or larger jump share reports more or fewer jumps", () => {
    const book = usageOf("TIERED", { after: 0, rate: 1 }, { after: 10, rate: 1, flatRate: 6 });
    expect(describeFindings(book)).toEqual([]);
    expect(describeFindings(book, { jumpShare: "0.5" })).toEqual([
      'warning PRICE_JUMPS pp@1/usage/um.units/slab/2: 10 of "units" cost 10.00 USD, 11 cost 17.00 USD',
    ]);
    expect(() => lintBook(book, { jumpShare: -1 })).toThrow("jumpShare: expected 0 or more, got -1");
  });

  test("reports a price that falls above an edge, and no other", () => {
    // Rates are hundredths and at most 20: this near to an edge, a price differs from its limit by less than it can
    // fall.
    const next = new Decimal("1e-12");
    fc.assert(
      fc.property(decimalCardArbitrary(), pricingModelArbitrary(), ({ rows: slabRows, bounds }, model) => {
        const rows = slabRows.map((row, index) => (index === 0 ? row : { ...row, chargeAtZero: false }));
        const [ratePlan, rates] = [createRatePlan(model, rows), createRateValue(rows, bounds)];
        const priceOf = (quantity: Decimal): Decimal => priceQuantity(ratePlan, rates, quantity).amount;
        const falling = rows.flatMap(({ after }, index) => {
          const edge = new Decimal(after);
          return priceOf(add(edge, next)).lt(priceOf(edge)) ? [`pp@1/usage/um.units/slab/${index + 1}`] : [];
        });
        const findings = lintBook(withUsage(model, rows, bounds)).filter(({ code }) => code === "PRICE_FALLS");
        expect(findings.map(({ at }) => at)).toEqual(falling);
      }),
      { numRuns: 200 },
    );
  });

  test("every example is correct: its quantities have the costs shown, and they demonstrate the finding", () => {
    const figures = /^(\S+) of "units" cost (\S+) USD, (\S+) cost (\S+) USD$/;
    let count = 0;
    fc.assert(
      fc.property(decimalCardArbitrary(), pricingModelArbitrary(), ({ rows, bounds }, model) => {
        const [ratePlan, rates] = [createRatePlan(model, rows), createRateValue(rows, bounds)];
        for (const { code, at, example = "" } of lintBook(withUsage(model, rows, bounds))) {
          if (code !== "PRICE_FALLS" && code !== "PRICE_JUMPS") continue;
          const [, less = "", lower = "", more = "", upper = ""] = figures.exec(example) ?? [];
          const slabPricing = [less, more].map(
            (quantity) => priceQuantity(ratePlan, rates, new Decimal(quantity)).amount,
          );
          expect(slabPricing.map((amount) => amount.toFixed())).toEqual(
            [lower, upper].map((amount) => new Decimal(amount).toFixed()),
          );
          const [before = new Decimal(0), after = new Decimal(0)] = slabPricing;
          const slab = rows[Number(at.split("/").at(-1)) - 1];
          const usual = slab?.type === "PACKAGE" ? Decimal.max(new Decimal(slab.rate), new Decimal(0)) : 0;
          expect(code === "PRICE_FALLS" ? after.lt(before) : after.minus(before).minus(usual).gt(before)).toBe(true);
          count++;
        }
      }),
      { numRuns: 400 },
    );
    expect(count).toBeGreaterThan(50);
  });
});

describe("lint across cards", () => {
  test.each([
    [
      "S13.3 a commitment below the fees of every cycle",
      bookOfPlan({
        fixedFeeRateCards: [feeOf("addon.fee", 100), feeOf("addon.support", 20)],
        minimumCommitment: { rateValues: [{ currency: "USD", rate: 120 }] },
      }),
      [
        "warning COMMITMENT_IDLE pp@1/commitment: a whole cycle without usage costs 120.00 USD in fees, the commitment is 120.00 USD",
      ],
    ],
    [
      "S9.1 a fee of every other cycle does not make a commitment idle",
      bookOfPlan({
        fixedFeeRateCards: [feeOf("addon.fee", 100, { recurrenceConfig: { interval: 2 } })],
        minimumCommitment: { rateValues: [{ currency: "USD", rate: 60 }] },
      }),
      [],
    ],
    [
      "one fee on two cards",
      bookOfPlan({
        fixedFeeRateCards: [feeOf("addon.fee", 10), feeOf("addon.support", 10, { displayName: "Platform" })],
      }),
      ["warning FEE_TWICE pp@1/fee/addon.support: both cost 10.00 USD"],
    ],
    [
      "S1.5 a fee in a fraction of a cent",
      bookOfPlan({ fixedFeeRateCards: [feeOf("addon.fee", "9.995")] }),
      ["note RATE_TOO_FINE pp@1/fee/addon.fee: a fee of 9.995 is charged as 10.00 USD each time"],
    ],
    [
      "S11.7 more free overage than was sold",
      bookOfPlan({
        billingEntitlementRateCards: [{ ...entitlement, ...slabs("TIERED", [0, 1]) }],
        entitlementOverageRateCards: [{ featureId: "seconds", ...slabs("TIERED", [0, 0], [500, 1]) }],
      }),
      [
        "warning FREE_TIER_ABOVE_ENTITLEMENT pp@1/overage/seconds: the entitlement is 100, and 500 units beyond it cost 0.00 USD",
      ],
    ],
    [
      "S12.2 a granted credit for seats on a plan without seats",
      bookOfPlan({
        creditGrantRateCards: [
          {
            id: "addon.bonus",
            rateDetails: {
              pricingModel: "TIERED",
              currencySlabRateDetails: [
                {
                  currency: "USD",
                  creditAmount: 10,
                  slabDetails: [{ order: 1, startAfter: 0, priceType: "FLAT", rate: 5 }],
                },
              ],
            },
            grantDetails: { expiryType: "NO_EXPIRY", applicableEntityIds: ["addon.seats"] },
          },
        ],
      }),
      ["warning CREDIT_UNUSABLE pp@1/grant/addon.bonus: it pays for addon.seats; the plan has no such card"],
    ],
    [
      "S12.1 a credit that ends on the day on which the first plan begins",
      bookOfPlan(
        {},
        {
          accounts: [
            {
              id: "prod",
              name: "Production",
              customerId: "contoso",
              pricePlans: [{ pricePlanId: "pp", effectiveFrom: "2024-06-01" }],
              credits: [
                {
                  id: "c",
                  purpose: "hello",
                  creditAmount: 5,
                  effectiveFrom: "2024-01-01",
                  effectiveUntil: "2024-06-01",
                },
              ],
            },
          ],
        },
      ),
      [
        "warning CREDIT_UNUSABLE prod/credits/c: it ends at 2024-06-01T00:00:00.000Z, and the first plan begins at 2024-06-01T00:00:00.000Z",
      ],
    ],
    [
      "a meter that no plan prices",
      bookOfPlan({ usageRateCards: [] }),
      ['warning METER_UNPRICED um.units: 1000 of "units" cost 0, whatever the plan'],
    ],
  ])("%s", (_, book, findings) => {
    expect(describeFindings(book)).toEqual(findings);
  });
});

describe("lint of meters", () => {
  const withRules = (computations: readonly object[]) =>
    bookOfPlan(
      { usageRateCards: [{ usageMeterId: "um.calls", ...slabs("TIERED", [0, 1]) }] },
      {
        usageMeters: [countMeter(computations)],
      },
    );
  const region = { var: "dimension.region" };
  const units = { var: "attribute.units" };

  test.each([
    ["a region is compared", { "==": [region, "eu"] }, []],
    ["a number between two", { and: [{ ">": [units, 5] }, { "<": [units, 7] }] }, []],
    ["more than 7 and less than 5", { and: [{ ">": [units, 7] }, { "<": [units, 5] }] }, ["RULE_NEVER_MATCHES"]],
    ["two regions at once", { and: [{ "==": [region, "eu"] }, { "==": [region, "us"] }] }, ["RULE_NEVER_MATCHES"]],
    [
      "one region or another than it",
      { or: [{ "==": [region, "eu"] }, { "!=": [region, "eu"] }] },
      ["RULE_ALWAYS_MATCHES"],
    ],
    ["false", false, ["RULE_NEVER_MATCHES"]],
    ["an iteration over a list is not searched", { some: [[1, 2], { ">": [{ var: "" }, 5] }] }, []],
  ])("S5.1 a matcher: %s", (_, matcher, codes) => {
    expect(lintBook(withRules([{ order: 1, matcher }])).map(({ code }) => code)).toEqual(codes);
  });

  test("findings from a search are marked as searched, others are not", () => {
    const searchMatcher = (matcher: unknown) =>
      lintBook(withRules([{ order: 1, matcher }])).map((each) => each.searched);
    expect(searchMatcher({ and: [{ ">": [units, 7] }, { "<": [units, 5] }] })).toEqual([true]);
    expect(searchMatcher(false)).toEqual([false]);
  });

  test("S5.2 in a COUNT meter, a computation has no effect in addition to one that counts every event", () => {
    const findings = describeFindings(withRules([{ order: 1, matcher: { "==": [region, "eu"] } }, { order: 2 }]));
    expect(findings).toEqual([
      "warning COMPUTATION_SHADOWED um.calls/computation/1: computation 2 counts every event, and no event counts twice",
    ]);
  });
});

describe("suppressions", () => {
  const rows: readonly SlabRow[] = [
    { after: 0, rate: 25 },
    { after: 20, rate: 20 },
  ];
  const silencedBy = (lint: BookInput["lint"]) =>
    lintBook(withUsage("VOLUME", rows, undefined, { lint })).map(({ silenced }) => silenced);

  test.each([
    ["a code everywhere", [{ code: "PRICE_FALLS" as const, reason: "agreed" }], "agreed"],
    [
      "a place and what is below it",
      [{ code: "PRICE_FALLS" as const, at: "pp@1/usage", reason: "sold so" }],
      "sold so",
    ],
    ["another code", [{ code: "PRICE_JUMPS" as const, reason: "agreed" }], undefined],
    ["another place", [{ code: "PRICE_FALLS" as const, at: "pp@1/us", reason: "agreed" }], undefined],
  ])("%s", (_, lint, reason) => {
    expect(silencedBy(lint)).toEqual([reason]);
  });

  test("require an existing code and a reason", () => {
    const listProblems = (lint: unknown): readonly string[] => {
      try {
        parseBook({ lint });
        return [];
      } catch (error) {
        if (!hasCode(error, "ERR_BOOK_INVALID")) throw error;
        return error.details.problems.map(({ path }) => path);
      }
    };
    expect(listProblems([{ code: "PRICE_FALL", reason: "x" }, { code: "PRICE_FALLS" }])).toEqual([
      "$.lint[0].code",
      "$.lint[1].reason",
    ]);
  });
});
