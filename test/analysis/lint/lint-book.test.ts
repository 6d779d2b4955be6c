import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { lintBook } from "../../../src/analysis/lint/lint-book.ts";
import { parseBook, type ShortBookInput, toBookInput } from "../../../src/book/book.ts";
import type { Book, BookInput } from "../../../src/book/resources/book.ts";
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
import { listProblems, readCases } from "../../book/break-book.ts";
import { createSlabPricing } from "../../rating/cards.ts";

/** A book of one schema, with these fields of its plan, or of itself. */
function bookWith({ usageMeters, accounts, lint, ...plan }: Readonly<Record<string, unknown>>): Book {
  return parseBook({
    eventSchemas: [{ name: "call", attributes: ["units"], dimensions: ["region"] }],
    usageMeters: usageMeters ?? [{ id: "um.units", name: "units", schema: "call", sum: "units" }],
    features: [{ id: "seconds", name: "seconds" }],
    addOns: [
      { id: "addon.seats", name: "Seats", type: "LICENSE" },
      { id: "addon.fee", name: "Platform", type: "FIXED_FEE" },
      { id: "addon.support", name: "Support", type: "FIXED_FEE" },
    ],
    pricePlans: [{ id: "pp", cycle: "MONTHLY", usage: [{ meter: "um.units", rate: 1 }], ...plan }],
    accounts,
    lint,
  });
}

/** A book whose plan prices units by this. */
const bookOfPrice = (price: object, lint?: unknown): Book =>
  bookWith({ usage: [{ meter: "um.units", ...price }], lint });
const bookOfCard = (model: "TIERED" | "VOLUME", rows: readonly SlabRow[], bounds?: CardBounds): Book =>
  bookOfPrice(createSlabPricing(model, rows, bounds));

/** Every finding as `level code at: example`. */
const describeFindings = (book: Book, options = {}): readonly string[] =>
  lintBook(book, options).map(({ level, code, at, example }) => `${level} ${code} ${at}: ${example ?? ""}`);

describe("lint of a plan", () => {
  test.each(
    readCases(`
      tiers = [{ upTo: 100, rate: 2 }, { rate: 1 }]
        nothing in a plain price
      volumeTiers = [{ upTo: 20, rate: 25 }, { rate: 20 }]
        S7.2 note PRICE_FALLS pp@1/usage/um.units/slab/2: 20 of "units" cost 500.00 USD, 21 cost 420.00 USD
      volumeTiers = [{ upTo: 10, rate: 1, flat: 50 }, { rate: 1 }]
        S7.4 warning PRICE_FALLS pp@1/usage/um.units/slab/2: 10 of "units" cost 60.00 USD, 11 cost 11.00 USD
      volumeTiers = [{ upTo: 100, rate: 2 }, { rate: 2, maximum: 150 }]
        S7.4 warning PRICE_FALLS pp@1/usage/um.units/slab/2: 100 of "units" cost 200.00 USD, 101 cost 150.00 USD
      volumeTiers = [{ upTo: 100, rate: 10, package: 10 }, { rate: 90, package: 1000 }]
        S7.3 warning PRICE_FALLS pp@1/usage/um.units/slab/2: 100 of "units" cost 100.00 USD, 101 cost 90.00 USD
      tiers = [{ upTo: 100, rate: 2 }, { rate: -1 }]
        warning PRICE_FALLS pp@1/usage/um.units/slab/2: 100 of "units" cost 200.00 USD, 101 cost 199.00 USD
      tiers = [{ upTo: 100, rate: 2 }, { upTo: 110, rate: -1, flat: 20 }, { rate: 3 }]
        warning PRICE_FALLS pp@1/usage/um.units/slab/2: 105 of "units" cost 215.00 USD, 106 cost 214.00 USD
      tiers = [{ upTo: 10, rate: 1 }, { rate: 1, flat: 11 }]
        warning PRICE_JUMPS pp@1/usage/um.units/slab/2: 10 of "units" cost 10.00 USD, 11 cost 22.00 USD
      licenses = [{ id: "addon.seats", max: 50, tiers: [{ upTo: 50, rate: 9 }, { rate: 8 }] }]
        S10.1 warning SLAB_UNREACHABLE pp@1/license/addon.seats/slab/2: the slab starts after 50, and 50 is not above 50
      usageMeters = [{ id: "um.units", name: "units", schema: "call", count: true }]
      volumeTiers = [{ upTo: 10, rate: 1 }, { upTo: 10.5, rate: 2 }, { rate: 3 }]
        warning SLAB_UNREACHABLE pp@1/usage/um.units/slab/2: there is no whole number above 10 up to 10.5
      tiers = [{ upTo: 10, rate: "0.1002" }, { rate: "0.1" }]
        S1.5 note RATE_TOO_FINE pp@1/usage/um.units/slab/1: 10 times 0.1002 is 1.00 USD, and 10 times 0.1 is 1.00 USD
      fees = [{ id: "addon.fee", rate: 100 }, { id: "addon.support", rate: 20 }]
      commitment = 120
        S13.3 warning COMMITMENT_IDLE pp@1/commitment: a whole cycle without usage costs 120.00 USD in fees, the commitment is 120.00 USD
      fees = [{ id: "addon.fee", rate: 100, everyCycles: 2 }]
      commitment = 60
        S9.1 nothing for a commitment above the fees of some cycles
      fees = [{ id: "addon.fee", rate: 10 }, { id: "addon.support", rate: 10, displayName: "Platform" }]
        warning FEE_TWICE pp@1/fee/addon.support: both cost 10.00 USD
      fees = [{ id: "addon.fee", rate: "9.995" }]
        S1.5 note RATE_TOO_FINE pp@1/fee/addon.fee: a fee of 9.995 is charged as 10.00 USD each time
      entitlements = [{ feature: "seconds", quantity: 100, for: "P1M", rate: 1 }]
      overages = [{ feature: "seconds", tiers: [{ upTo: 500, rate: 0 }, { rate: 1 }] }]
        S11.7 warning FREE_TIER_ABOVE_ENTITLEMENT pp@1/overage/seconds: the entitlement is 100, and 500 units beyond it cost 0.00 USD
      credits = [{ id: "addon.bonus", amount: 10, flat: 5, appliesTo: ["addon.seats"] }]
        S12.2 warning CREDIT_UNUSABLE pp@1/grant/addon.bonus: it pays for addon.seats; the plan has no such card
      accounts = [{ id: "prod", plan: "pp", from: "2024-06-01", credits: [{ id: "c", purpose: "hello", amount: 5, from: "2024-01-01", until: "2024-06-01" }] }]
        S12.1 warning CREDIT_UNUSABLE prod/credits/c: it ends at 2024-06-01T00:00:00.000Z, and the first plan begins at 2024-06-01T00:00:00.000Z
      usage = []
        warning METER_UNPRICED um.units: 1000 of "units" cost 0, whatever the plan
    `),
  )("finds $problem", ({ changes, problem }) => {
    const { tiers, volumeTiers, ...fields } = Object.fromEntries(changes);
    const usage = [{ meter: "um.units", ...(tiers === undefined ? { volumeTiers } : { tiers }) }];
    const book = bookWith({ ...(tiers === undefined && volumeTiers === undefined ? {} : { usage }), ...fields });
    const finding = problem.replace(/^S[\d.]+ /, "");
    expect(describeFindings(book)).toEqual(finding.startsWith("nothing") ? [] : [finding]);
  });

  test("has the path in the book as written, in short or in long form", () => {
    const usage = [{ meter: "calls", volumeTiers: [{ upTo: 20, rate: 25 }, { rate: 20 }] }];
    const short: ShortBookInput = {
      eventSchemas: [{ name: "call" }],
      usageMeters: [{ id: "calls", schema: "call", count: true }],
      pricePlans: [{ id: "pp", cycle: "MONTHLY", usage }],
    };
    expect([short, toBookInput(short)].flatMap((book) => lintBook(book).map(({ path }) => path))).toEqual([
      "$.pricePlans[0].usage[0].volumeTiers[1]",
      "$.pricePlans[0].pricePlanDetails.usageRateCards[0].rateValues[0].slabRates[1]",
    ]);
  });

  test("a smaller or larger jump share reports more or fewer jumps", () => {
    const book = bookOfPrice({
      tiers: [
        { upTo: 10, rate: 1 },
        { rate: 1, flat: 6 },
      ],
    });
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
        const findings = lintBook(bookOfCard(model, rows, bounds)).filter(({ code }) => code === "PRICE_FALLS");
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
        for (const { code, at, example = "" } of lintBook(bookOfCard(model, rows, bounds))) {
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

describe("lint of meters", () => {
  const withRules = (computations: readonly object[]) =>
    bookWith({
      usageMeters: [{ id: "um.units", name: "calls", aggregation: "COUNT", eventSchemaName: "call", computations }],
    });
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
      "warning COMPUTATION_SHADOWED um.units/computation/1: computation 2 counts every event, and no event counts twice",
    ]);
  });
});

describe("suppressions", () => {
  const volumeTiers = [{ upTo: 20, rate: 25 }, { rate: 20 }];
  const silencedBy = (lint: BookInput["lint"]) =>
    lintBook(bookOfPrice({ volumeTiers }, lint)).map(({ silenced }) => silenced);

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
    const lint = [{ code: "PRICE_FALL", reason: "x" }, { code: "PRICE_FALLS" }];
    expect(listProblems(() => parseBook({ lint })).map((problem) => problem.split(": ")[0])).toEqual([
      "$.lint[0].code",
      "$.lint[1].reason",
    ]);
  });
});
