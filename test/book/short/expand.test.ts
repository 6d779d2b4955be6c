/** What each short form means in the long form (book.md). */
import { describe, expect, test } from "vitest";

import { toBookInput } from "../../../src/book/book.ts";
import type { BookInput, ShortBookInput } from "../../../src/index.ts";
import { parseValue, readCases } from "../break-book.ts";

type Plan = NonNullable<BookInput["pricePlans"]>[number];

/** The details of the long form of a plan with these fields. */
function expandDetails(plan: object, organization = { id: "acme" }): Plan["pricePlanDetails"] {
  const book = { organization, pricePlans: [{ id: "p", cycle: "MONTHLY", ...plan }] } as ShortBookInput;
  const [long] = toBookInput(book).pricePlans ?? [];
  if (long === undefined) throw new Error("no plan");
  return long.pricePlanDetails;
}

const UNIT = `order: 1, startAfter: 0, priceType: "PER_UNIT"`;
const FLAT = `order: 1, startAfter: 0, priceType: "FLAT"`;
const SECOND = `order: 2, startAfter: 1000, priceType: "PER_UNIT"`;
/** The long price of a card, from the fields of its slabs and of their rates. */
const tiered = (slabs: readonly string[], rates: readonly string[]): string => {
  const list = (items: readonly string[]): string => items.map((item) => `{ ${item} }`).join(", ");
  const slabRates = rates.map((rate, index) => `order: ${index + 1}, ${rate}`);
  return `ratePlan: { pricingModel: "TIERED", slabs: [${list(slabs)}] }, rateValues: [{ currency: "USD", slabRates: [${list(slabRates)}] }]`;
};

/** Tests a table of the fields of short objects and the long objects that they mean. */
function testExpansions(title: string, table: string, expand: (short: object) => unknown): void {
  describe(title, () => {
    test.each(readCases(table))("$problem", ({ changes, problem }) => {
      expect(expand(Object.fromEntries(changes))).toEqual(parseValue(problem.replace(/^→ /, "")));
    });
  });
}

testExpansions(
  "a price",
  `
    rate = "0.002"
      → { ${tiered([UNIT], [`rate: "0.002"`])} }
    rate = "2.50"
    per = 1000000
      → { ${tiered([UNIT], [`rate: "0.0000025"`])} }
    flat = 20
      → { ${tiered([FLAT], ["rate: 20"])} }
    rate = 1
    flat = 20
      → { ${tiered([UNIT], ["rate: 1, slabRateConfig: { flatRate: 20 }"])} }
    rate = 1
    package = 100
    chargeAtZero = true
      → { ${tiered([`order: 1, startAfter: 0, priceType: "PACKAGE", slabConfig: { packageSize: 100, chargeAtZero: true }`], ["rate: 1"])} }
    tiers = [{ upTo: 1000, rate: 0 }, { rate: "0.002", minimum: 5 }]
      → { ${tiered([`${UNIT}, endAt: 1000`, SECOND], ["rate: 0", `rate: "0.002", slabRateConfig: { minimumRate: 5 }`])} }
    per = 1000
    tiers = [{ upTo: 1000, rate: 5 }, { rate: "4" }]
      → { ${tiered([`${UNIT}, endAt: 1000`, SECOND], [`rate: "0.005"`, `rate: "0.004"`])} }
    volumeTiers = [{ rate: 3 }]
    minimum = 10
    maximum = "99.5"
      → { ratePlan: { pricingModel: "VOLUME", slabs: [{ ${UNIT} }] }, rateValues: [{ currency: "USD", slabRates: [{ order: 1, rate: 3 }], rateConfig: { minimumRate: 10, maximumRate: "99.5" } }] }
    flat = 20
    minimum = 10
    maximum = 99
      → { ratePlan: { pricingModel: "TIERED", slabs: [{ ${FLAT} }] }, rateValues: [{ currency: "USD", slabRates: [{ order: 1, rate: 20 }], rateConfig: { minimumRate: 10, maximumRate: 99 } }] }
  `,
  (price) => {
    const [{ usageMeterId, ...card } = { usageMeterId: undefined }] =
      expandDetails({ usage: [{ meter: "m", ...price }] }).usageRateCards ?? [];
    expect(usageMeterId).toBe("m");
    return card;
  },
);

describe("a price", () => {
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

testExpansions(
  "a cycle",
  `
    cycle = "MONTHLY"
      → { interval: "MONTHLY", startOffset: { dayOffset: "1" } }
    cycle = "ANNUALLY"
      → { interval: "ANNUALLY", startOffset: { dayOffset: "1", monthOffset: "1" } }
    cycle = { interval: "MONTHLY", day: 15, gracePeriod: 3 }
      → { interval: "MONTHLY", startOffset: { dayOffset: "15" }, gracePeriod: 3 }
    cycle = { interval: "QUARTERLY", day: "LAST", month: 2 }
      → { interval: "QUARTERLY", startOffset: { dayOffset: "LAST", monthOffset: "2" } }
    cycle = { interval: "ANNUALLY", anniversary: true }
      → { interval: "ANNUALLY", anniversaryCycle: true }
  `,
  (plan) => expandDetails(plan).pricingCycleConfig,
);

const granted = `rateDetails: { pricingModel: "TIERED", currencySlabRateDetails: [{ currency: "USD", creditAmount: 10, slabDetails: [{ ${FLAT}, rate: 5 }] }] }`;
testExpansions(
  "cards: each field under its long name",
  `
    fees = [{ id: "setup", rate: 9, once: true, afterCycles: 1, prorate: true, timing: "IN_ADVANCE", tag: "t" }]
      → { fixedFeeRateCards: [{ id: "setup", rateValues: [{ currency: "USD", rate: 9 }], type: "ONE_TIME", recurrenceConfig: { offset: 1 }, enableProration: true, invoiceTiming: "IN_ADVANCE", tag: "t" }] }
    licenses = [{ id: "seats", rate: 12, max: 50, refund: true }]
      → { licenseRateCards: [{ id: "seats", ${tiered([UNIT], ["rate: 12"])}, config: { maxQuantity: 50 }, proratedRefundMode: "CREDITS" }] }
    entitlements = [{ feature: "credits", name: "Credits", quantity: 10, for: "P1M", flat: 80, everyCycles: 2 }]
      → { billingEntitlementRateCards: [{ featureId: "credits", featureConfigs: [{ featureCreditLimit: 10, effectiveUntil: "P1M" }], ${tiered([FLAT], ["rate: 80"])}, recurrenceConfig: { interval: 2 } }] }
    overages = [{ feature: "credits", rate: "0.01", max: 5, everyCycles: 3, afterCycles: 1 }]
      → { entitlementOverageRateCards: [{ featureId: "credits", ${tiered([UNIT], [`rate: "0.01"`])}, maxQuantity: 5, billingConfig: { interval: 3, startOffset: 1 } }] }
    credits = [{ id: "promo", amount: 10, flat: 5, for: "P1M", priority: 2, appliesTo: ["um"] }]
      → { creditGrantRateCards: [{ id: "promo", ${granted}, grantDetails: { expiryType: "CUSTOM", expiryDuration: "P1M", priority: 2, applicableEntityIds: ["um"] } }] }
    credits = [{ id: "cycle", amount: 10, flat: 5, for: "CYCLE" }]
      → { creditGrantRateCards: [{ id: "cycle", ${granted}, grantDetails: { expiryType: "PRICING_CYCLE" } }] }
    credits = [{ id: "ever", amount: 10, flat: 5 }]
      → { creditGrantRateCards: [{ id: "ever", ${granted}, grantDetails: { expiryType: "NO_EXPIRY" } }] }
  `,
  (plan) => {
    const { supportedCurrencies, pricingCycleConfig, ...cards } = expandDetails(plan);
    expect([supportedCurrencies, pricingCycleConfig?.interval]).toEqual([["USD"], "MONTHLY"]);
    return cards;
  },
);

test("a plan is ACTIVE and named by its id, and so are the add-ons and features of its cards unless one has a name", () => {
  const book = toBookInput({
    pricePlans: [
      {
        id: "p",
        cycle: "MONTHLY",
        fees: [{ id: "setup", name: "Setup", rate: 9 }],
        licenses: [{ id: "seats", rate: 12 }],
        entitlements: [{ feature: "credits", name: "Credits", quantity: 10, for: "P1M", flat: 80 }],
        overages: [{ feature: "credits", rate: "0.01" }],
        credits: [{ id: "promo", amount: 10, flat: 5, for: "P1M" }],
      },
    ],
  });
  expect(book.pricePlans?.[0]).toMatchObject({ id: "p", name: "p", status: "ACTIVE" });
  expect(book.features).toEqual([{ id: "credits", name: "Credits" }]);
  expect(book.addOns).toEqual([
    { id: "setup", name: "Setup", type: "FIXED_FEE" },
    { id: "seats", name: "seats", type: "LICENSE" },
    { id: "promo", name: "promo", type: "CREDIT_GRANT" },
  ]);
});

testExpansions(
  "an event schema",
  `
    attributes = ["calls", { name: "size", unit: "GB" }]
    dimensions = ["region"]
    computed = { double: { "*": [2, 2] } }
      → { name: "call", attributes: [{ name: "calls" }, { name: "size", defaultUnit: "GB" }], dimensions: [{ name: "region" }], enrichments: { fields: [{ name: "double", type: "ATTRIBUTE", value: { "*": [2, 2] }, order: 1 }] } }
  `,
  (schema) => toBookInput({ eventSchemas: [{ name: "call", ...schema }] }).eventSchemas?.[0],
);

const region = `{ var: "dimension.region" }`;
testExpansions(
  "a meter",
  `
    sum = "calls"
    where = { region: ["eu", 2] }
      → { aggregation: "SUM", computations: [{ order: 1, matcher: { in: [${region}, ["eu", "2"]] }, computation: { var: "attribute.calls" } }] }
    count = true
    where = { region: "eu" }
      → { aggregation: "COUNT", computations: [{ order: 1, matcher: { "==": [${region}, "eu"] } }] }
    sum = { "+": [1, 2] }
    where = { region: { not: "eu" } }
      → { aggregation: "SUM", computations: [{ order: 1, matcher: { "!=": [${region}, "eu"] }, computation: { "+": [1, 2] } }] }
    count = true
    where = { region: { not: ["eu", "us"] } }
      → { aggregation: "COUNT", computations: [{ order: 1, matcher: { "!": [{ in: [${region}, ["eu", "us"]] }] } }] }
  `,
  (fields) => {
    const meter = { id: "m", schema: "call", ...fields };
    const [{ id, name, eventSchemaName, ...long } = {} as never] =
      toBookInput({ usageMeters: [meter] }).usageMeters ?? [];
    expect([id, name, eventSchemaName]).toEqual(["m", "m", "call"]);
    return long;
  },
);

testExpansions(
  "an account",
  `
    plan = "team"
    from = "2026-01-01"
    licenses = { seats: 5 }
    credits = [{ purpose: "Welcome", amount: 5 }]
      → { pricePlans: [{ pricePlanId: "team", effectiveFrom: "2026-01-01" }], licenseUpdates: [{ licenseId: "seats", quantity: 5, effectiveFrom: "2026-01-01" }], credits: [{ purpose: "Welcome", creditAmount: 5, effectiveFrom: "2026-01-01" }] }
    plans = [{ plan: "team", from: "2026-02-01", until: "2026-05-01", override: { commitment: 5 } }]
    licenses = { seats: [{ from: "2026-02-10", quantity: 3 }] }
      → { pricePlans: [{ pricePlanId: "team", effectiveFrom: "2026-02-01", effectiveUntil: "2026-05-01", pricePlanDetailsOverride: { minimumCommitment: { rateValues: [{ currency: "USD", rate: 5 }] } } }], licenseUpdates: [{ licenseId: "seats", quantity: 3, effectiveFrom: "2026-02-10" }] }
  `,
  (account) => {
    const book = toBookInput({ accounts: [{ id: "contoso", ...account }] });
    expect(book.customers).toEqual([{ id: "contoso", name: "contoso" }]);
    const [{ id, name, customerId, ...long } = {} as never] = book.accounts ?? [];
    expect([id, name, customerId]).toEqual(["contoso", "contoso", "contoso"]);
    return long;
  },
);

test("an account with a customer and no name has its id as its name", () => {
  const customers = [{ id: "acme", name: "Acme" }];
  const accounts = [{ id: "contoso", customerId: "acme" }];
  expect(toBookInput({ customers, accounts }).accounts).toEqual([
    { id: "contoso", name: "contoso", customerId: "acme" },
  ]);
});
