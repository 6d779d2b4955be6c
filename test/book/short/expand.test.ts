/** What each short form means in the long form (book.md). */
import { describe, expect, test } from "vitest";

import { toBookInput } from "../../../src/book/book.ts";
import type { BookInput, ShortBookInput } from "../../../src/index.ts";

type Plan = NonNullable<BookInput["pricePlans"]>[number];

/** The details of the long form of a plan with these fields. */
function expandDetails(plan: object, organization = { id: "acme" }): Plan["pricePlanDetails"] {
  const book = { organization, pricePlans: [{ id: "p", cycle: "MONTHLY", ...plan }] } as ShortBookInput;
  const [long] = toBookInput(book).pricePlans ?? [];
  if (long === undefined) throw new Error("no plan");
  return long.pricePlanDetails;
}

const PER_UNIT = { order: 1, startAfter: 0, priceType: "PER_UNIT" };
const rate = (...slabRates: readonly object[]): readonly object[] => [
  { currency: "USD", slabRates: slabRates.map((each, index) => ({ order: index + 1, ...each })) },
];
const tiered = (...slabs: readonly object[]): object => ({ pricingModel: "TIERED", slabs });

describe("a price", () => {
  test.each<[title: string, price: object, ratePlan: object, rateValues: readonly object[]]>([
    ["a rate for each unit", { rate: "0.002" }, tiered(PER_UNIT), rate({ rate: "0.002" })],
    [
      "a rate for a million units, exactly",
      { rate: "2.50", per: 1000000 },
      tiered(PER_UNIT),
      rate({ rate: "0.0000025" }),
    ],
    ["a flat amount", { flat: 20 }, tiered({ ...PER_UNIT, priceType: "FLAT" }), rate({ rate: 20 })],
    [
      "a flat amount beside a rate",
      { rate: 1, flat: 20 },
      tiered(PER_UNIT),
      rate({ rate: 1, slabRateConfig: { flatRate: 20 } }),
    ],
    [
      "a rate for each package, also for none",
      { rate: 1, package: 100, chargeAtZero: true },
      tiered({ ...PER_UNIT, priceType: "PACKAGE", slabConfig: { packageSize: 100, chargeAtZero: true } }),
      rate({ rate: 1 }),
    ],
    [
      "tiers: upTo is the last unit of a tier",
      {
        tiers: [
          { upTo: 1000, rate: 0 },
          { rate: "0.002", minimum: 5 },
        ],
      },
      tiered({ ...PER_UNIT, endAt: 1000 }, { ...PER_UNIT, order: 2, startAfter: 1000 }),
      rate({ rate: 0 }, { rate: "0.002", slabRateConfig: { minimumRate: 5 } }),
    ],
    [
      "tiers for a thousand units each",
      { per: 1000, tiers: [{ upTo: 10, rate: 5 }, { rate: "4" }] },
      tiered({ ...PER_UNIT, endAt: 10 }, { ...PER_UNIT, order: 2, startAfter: 10 }),
      rate({ rate: "0.005" }, { rate: "0.004" }),
    ],
    [
      "a volume price with limits",
      { volumeTiers: [{ rate: 3 }], minimum: 10, maximum: "99.5" },
      { pricingModel: "VOLUME", slabs: [PER_UNIT] },
      [{ ...rate({ rate: 3 })[0], rateConfig: { minimumRate: 10, maximumRate: "99.5" } }],
    ],
    [
      "a flat amount with limits, which are those of the card",
      { flat: 20, minimum: 10, maximum: 99 },
      tiered({ ...PER_UNIT, priceType: "FLAT" }),
      [{ ...rate({ rate: 20 })[0], rateConfig: { minimumRate: 10, maximumRate: 99 } }],
    ],
  ])("%s", (_, price, ratePlan, rateValues) => {
    const [card] = expandDetails({ usage: [{ meter: "m", ...price }] }).usageRateCards ?? [];
    expect(card).toEqual({ usageMeterId: "m", ratePlan, rateValues });
  });

  test("amounts in several currencies, in the written order, and a minimum in one", () => {
    const details = expandDetails({
      currencies: ["USD", "EUR"],
      usage: [{ meter: "m", rate: { EUR: "0.0018", USD: "0.002" }, minimum: { USD: 5 } }],
      commitment: { USD: 100, EUR: 90 },
    });
    expect(details.supportedCurrencies).toEqual(["USD", "EUR"]);
    expect(details.usageRateCards?.[0]?.rateValues).toEqual([
      { currency: "EUR", slabRates: [{ order: 1, rate: "0.0018" }] },
      { currency: "USD", slabRates: [{ order: 1, rate: "0.002" }], rateConfig: { minimumRate: 5 } },
    ]);
    expect(details.minimumCommitment).toEqual({
      rateValues: [
        { currency: "USD", rate: 100 },
        { currency: "EUR", rate: 90 },
      ],
    });
  });

  test("the only currency is the organization's", () => {
    const organization = { id: "acme", baseCurrency: "EUR" };
    const details = expandDetails({ fees: [{ id: "f", rate: 1 }] }, organization);
    expect(details.supportedCurrencies).toEqual(["EUR"]);
    expect(details.fixedFeeRateCards?.[0]?.rateValues).toEqual([{ currency: "EUR", rate: 1 }]);
  });
});

describe("a cycle", () => {
  const month = { interval: "MONTHLY", startOffset: { dayOffset: "1" } };
  test.each<[cycle: unknown, config: object]>([
    ["MONTHLY", month],
    ["ANNUALLY", { interval: "ANNUALLY", startOffset: { dayOffset: "1", monthOffset: "1" } }],
    [
      { interval: "MONTHLY", day: 15, gracePeriod: 3 },
      { ...month, startOffset: { dayOffset: "15" }, gracePeriod: 3 },
    ],
    [
      { interval: "QUARTERLY", day: "LAST", month: 2 },
      { interval: "QUARTERLY", startOffset: { dayOffset: "LAST", monthOffset: "2" } },
    ],
    [
      { interval: "ANNUALLY", anniversary: true },
      { interval: "ANNUALLY", anniversaryCycle: true },
    ],
  ])("%j", (cycle, config) => {
    expect(expandDetails({ cycle }).pricingCycleConfig).toEqual(config);
  });
});

test("cards: each field under its long name, and their add-ons and features", () => {
  const book = toBookInput({
    pricePlans: [
      {
        id: "p",
        cycle: "MONTHLY",
        fees: [
          {
            id: "setup",
            name: "Setup",
            rate: 9,
            once: true,
            afterCycles: 1,
            prorate: true,
            timing: "IN_ADVANCE",
            tag: "t",
          },
        ],
        licenses: [{ id: "seats", rate: 12, max: 50, refund: true }],
        entitlements: [{ feature: "credits", name: "Credits", quantity: 10, for: "P1M", flat: 80, everyCycles: 2 }],
        overages: [{ feature: "credits", rate: "0.01", max: 5, everyCycles: 3, afterCycles: 1 }],
        credits: [
          { id: "promo", amount: 10, flat: 5, for: "P1M", priority: 2, appliesTo: ["um"] },
          { id: "cycle", amount: 10, flat: 5, for: "CYCLE" },
          { id: "ever", amount: 10, flat: 5 },
        ],
      },
    ],
  });
  const flat = { ratePlan: tiered({ ...PER_UNIT, priceType: "FLAT" }), rateValues: rate({ rate: 80 }) };
  const grant = (id: string, grantDetails: object): object => ({
    id,
    rateDetails: {
      pricingModel: "TIERED",
      currencySlabRateDetails: [
        { currency: "USD", creditAmount: 10, slabDetails: [{ ...PER_UNIT, priceType: "FLAT", rate: 5 }] },
      ],
    },
    grantDetails,
  });
  expect(book.pricePlans?.[0]).toEqual({
    id: "p",
    name: "p",
    status: "ACTIVE",
    pricePlanDetails: {
      supportedCurrencies: ["USD"],
      pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1" } },
      fixedFeeRateCards: [
        {
          id: "setup",
          rateValues: [{ currency: "USD", rate: 9 }],
          type: "ONE_TIME",
          recurrenceConfig: { offset: 1 },
          enableProration: true,
          invoiceTiming: "IN_ADVANCE",
          tag: "t",
        },
      ],
      licenseRateCards: [
        {
          id: "seats",
          ratePlan: tiered(PER_UNIT),
          rateValues: rate({ rate: 12 }),
          config: { maxQuantity: 50 },
          proratedRefundMode: "CREDITS",
        },
      ],
      billingEntitlementRateCards: [
        {
          featureId: "credits",
          featureConfigs: [{ featureCreditLimit: 10, effectiveUntil: "P1M" }],
          ...flat,
          recurrenceConfig: { interval: 2 },
        },
      ],
      entitlementOverageRateCards: [
        {
          featureId: "credits",
          ratePlan: tiered(PER_UNIT),
          rateValues: rate({ rate: "0.01" }),
          maxQuantity: 5,
          billingConfig: { interval: 3, startOffset: 1 },
        },
      ],
      creditGrantRateCards: [
        grant("promo", { expiryType: "CUSTOM", expiryDuration: "P1M", priority: 2, applicableEntityIds: ["um"] }),
        grant("cycle", { expiryType: "PRICING_CYCLE" }),
        grant("ever", { expiryType: "NO_EXPIRY" }),
      ],
    },
  });
  expect(book.features).toEqual([{ id: "credits", name: "Credits" }]);
  expect(book.addOns).toEqual([
    { id: "setup", name: "Setup", type: "FIXED_FEE" },
    { id: "seats", name: "seats", type: "LICENSE" },
    { id: "promo", name: "promo", type: "CREDIT_GRANT" },
    { id: "cycle", name: "cycle", type: "CREDIT_GRANT" },
    { id: "ever", name: "ever", type: "CREDIT_GRANT" },
  ]);
});

test("schemas, meters and accounts", () => {
  const variable = { var: "dimension.region" };
  const book = toBookInput({
    eventSchemas: [
      {
        name: "call",
        attributes: ["calls", { name: "size", unit: "GB" }],
        dimensions: ["region"],
        computed: { double: { "*": [2, 2] } },
      },
    ],
    usageMeters: [
      { id: "a", schema: "call", sum: "calls", where: { region: ["eu", 2] } },
      { id: "b", schema: "call", count: true, where: { region: "eu" } },
      { id: "c", schema: "call", sum: { "+": [1, 2] }, where: { region: { not: "eu" } } },
      { id: "d", schema: "call", count: true, where: { region: { not: ["eu", "us"] } } },
    ],
    pricePlans: [{ id: "team", cycle: "MONTHLY", licenses: [{ id: "seats", rate: 1 }] }],
    accounts: [
      {
        id: "contoso",
        plan: "team",
        from: "2026-01-01",
        licenses: { seats: 5 },
        credits: [{ purpose: "Welcome", amount: 5 }],
      },
      {
        id: "globex",
        plans: [
          { plan: "team", from: "2026-02-01", until: "2026-05-01", override: { licenses: [{ id: "seats", rate: 2 }] } },
        ],
        licenses: { seats: [{ from: "2026-02-10", quantity: 3 }] },
      },
    ],
  });
  expect(book.eventSchemas).toEqual([
    {
      name: "call",
      attributes: [{ name: "calls" }, { name: "size", defaultUnit: "GB" }],
      dimensions: [{ name: "region" }],
      enrichments: { fields: [{ name: "double", type: "ATTRIBUTE", value: { "*": [2, 2] }, order: 1 }] },
    },
  ]);
  const matchers = book.usageMeters?.map(({ computations }) => computations[0]?.matcher);
  expect(matchers).toEqual([
    { in: [variable, ["eu", "2"]] },
    { "==": [variable, "eu"] },
    { "!=": [variable, "eu"] },
    { "!": [{ in: [variable, ["eu", "us"]] }] },
  ]);
  expect(book.usageMeters?.map(({ name, aggregation }) => [name, aggregation])).toEqual([
    ["a", "SUM"],
    ["b", "COUNT"],
    ["c", "SUM"],
    ["d", "COUNT"],
  ]);
  expect(book.customers).toEqual([
    { id: "contoso", name: "contoso" },
    { id: "globex", name: "globex" },
  ]);
  expect(book.accounts?.[0]).toMatchObject({
    customerId: "contoso",
    pricePlans: [{ pricePlanId: "team", effectiveFrom: "2026-01-01" }],
    licenseUpdates: [{ licenseId: "seats", quantity: 5, effectiveFrom: "2026-01-01" }],
    credits: [{ purpose: "Welcome", creditAmount: 5, effectiveFrom: "2026-01-01" }],
  });
  expect(book.accounts?.[1]).toMatchObject({
    pricePlans: [{ effectiveUntil: "2026-05-01", pricePlanDetailsOverride: { licenseRateCards: [{ id: "seats" }] } }],
    licenseUpdates: [{ licenseId: "seats", quantity: 3, effectiveFrom: "2026-02-10" }],
  });
});

test("an account with a customer and no name has its id as its name", () => {
  const customers = [{ id: "acme", name: "Acme" }];
  const accounts = [{ id: "contoso", customerId: "acme" }];
  expect(toBookInput({ customers, accounts }).accounts).toEqual([
    { id: "contoso", name: "contoso", customerId: "acme" },
  ]);
});
