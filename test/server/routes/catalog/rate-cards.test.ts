/** Rate cards of price plans over HTTP: every field of every kind in the reference is returned as sent (S7 to S13). */
import { beforeAll, expect, test } from "vitest";

import { activeMeter, answeredDetails, DETAILS } from "../../catalog-requests.ts";
import { bindCalls, startApi, type TestApi } from "../../support.ts";

let api: TestApi;
/** The items that the cards price, by type. */
const ids: Record<string, string> = {};
let plans = 0;

const { call } = bindCalls(() => api);

beforeAll(async () => {
  api = await startApi();
  ids["meter"] = await activeMeter(call);
  for (const type of ["FIXED_FEE", "LICENSE", "CREDIT_GRANT"]) {
    ids[type] = (await call("POST /addons", { body: { name: type, type } })).json.id;
  }
  ids["feature"] = (await call("POST /features", { body: { name: "Tokens" } })).json.id;
});

/** Slabs that begin at 0 and 10, as in the reference. */
const SLABBED = {
  ratePlan: {
    pricingModel: "TIERED",
    slabs: [
      { order: 1, startAfter: 0, priceType: "FLAT", slabConfig: {}, endAt: 10 },
      { order: 2, startAfter: 10, priceType: "PER_UNIT", slabConfig: {}, endAt: null },
    ],
  },
  rateValues: [
    {
      currency: "USD",
      slabRates: [
        { order: 1, rate: 5, slabRateConfig: null },
        { order: 2, rate: 0.1, slabRateConfig: {} },
      ],
    },
  ],
  displayName: "Shown as this",
  tag: null,
};
const FEE = { rateValues: [{ currency: "USD", rate: 99.5 }], displayName: "Base fee", tag: "Platform" };
const GRANT = {
  type: "RECURRING",
  displayName: "Free credits",
  rateDetails: {
    pricingModel: "TIERED",
    currencySlabRateDetails: [
      {
        currency: "USD",
        creditAmount: 100,
        slabDetails: [
          {
            startAfter: 0,
            priceType: "FLAT",
            rate: 0,
            endAt: null,
            slabConfig: {},
            slabRateConfig: { flatRate: "1.50" },
          },
        ],
      },
    ],
  },
  grantDetails: {
    priority: 1,
    expiryType: "PRICING_CYCLE",
    expiryDuration: null,
    applicableEntityIds: ["ALL_USAGE_METER_RATE_CARDS"],
  },
  invoiceTiming: "IN_ADVANCE",
  recurrenceConfig: { offset: 0, interval: 3 },
};

/** The kinds of card: the list, the priced item, the fields of the reference's table, and additional ones. */
const KINDS: readonly (readonly [list: string, owner: readonly [field: string, of: string], card: object])[] = [
  [
    "fixedFeeRateCards",
    ["id", "FIXED_FEE"],
    { ...FEE, type: "ONE_TIME", recurrenceConfig: { interval: 1, offset: 2 } },
  ],
  [
    "licenseRateCards",
    ["id", "LICENSE"],
    {
      ...SLABBED,
      enableProration: true,
      config: { maxQuantity: 50 },
      invoiceTiming: "IN_ADVANCE",
      proratedRefundMode: "CREDITS",
    },
  ],
  [
    "billingEntitlementRateCards",
    ["featureId", "feature"],
    {
      ...SLABBED,
      featureConfigs: [{ featureCreditLimit: 1000, effectiveFrom: "P1D", effectiveUntil: "P1M" }],
      invoiceTiming: "IN_ARREARS",
      recurrenceConfig: { interval: 2, offset: 1 },
    },
  ],
  [
    "creditGrantRateCards",
    ["id", "CREDIT_GRANT"],
    { ...GRANT, grantDetails: { priority: 0, expiryType: "CUSTOM", expiryDuration: "P3M", applicableEntityIds: [] } },
  ],
];

/** Creates a plan with these details, and reads it. */
async function createAndReadPlan(
  details: object | string,
): Promise<{ readonly status: number; readonly id: string; readonly json: unknown; readonly text: string }> {
  plans += 1;
  const pricePlanDetails = typeof details === "string" ? "DETAILS" : details;
  const body = JSON.stringify({ name: `Plan ${plans}`, type: "BILLING", pricePlanDetails });
  const reply = await call("POST /price_plans", {
    body: typeof details === "string" ? body.replace('"DETAILS"', details) : body,
  });
  if (reply.status >= 400) return { status: reply.status, id: "", json: reply.json.message, text: reply.text };
  const { id } = reply.json;
  const got = await call(`GET /price_plans/${id}`);
  return { status: got.status, id, json: got.json.pricingSchedule[0].pricePlanDetails, text: got.text };
}

/** Fields returned for a card that omitted them. */
const SAID: Readonly<Record<string, object>> = {
  fixedFeeRateCards: { enableProration: false, invoiceTiming: "IN_ARREARS", type: "RECURRING" },
  licenseRateCards: { enableProration: false, invoiceTiming: "IN_ARREARS" },
  billingEntitlementRateCards: { invoiceTiming: "IN_ARREARS" },
  creditGrantRateCards: { tag: null, invoiceTiming: "IN_ARREARS", type: "RECURRING" },
};

/** Recurring cards are returned with null for omitted fields. */
function recurrenceOf(list: string, { recurrenceConfig }: { readonly recurrenceConfig?: object }): object {
  const recurs = /^(?:fixedFee|billingEntitlement|creditGrant)RateCards$/.test(list);
  return recurs ? { recurrenceConfig: { interval: null, offset: null, ...recurrenceConfig } } : {};
}

test.each(KINDS)(
  "%s of %j are returned as sent, and sending them again changes nothing: %j",
  async (list, [field, of], card) => {
    const cards = [{ [field]: ids[of], ...card }];
    const { status, json, id } = await createAndReadPlan({ ...DETAILS, [list]: cards });
    const cardsWithDefaults = cards.map((each) => ({ ...SAID[list], ...each, ...recurrenceOf(list, each) }));
    expect([status, json]).toEqual([200, answeredDetails({ ...DETAILS, [list]: cardsWithDefaults })]);
    const again = await call(`PATCH /price_plans/${id}`, { body: { pricePlanDetails: json } });
    expect(again.json.pricingSchedule[0].pricePlanDetails).toEqual(json);
  },
);

test("null is returned for an omitted nullable field, and an empty value for others", async () => {
  const slab = { order: 1, startAfter: 0, priceType: "PER_UNIT" };
  const rate = { order: 1, rate: 1 };
  const slabPricing = {
    ratePlan: { pricingModel: "TIERED", slabs: [slab] },
    rateValues: [{ currency: "USD", slabRates: [rate] }],
  };
  const { order: _, ...grantSlab } = slab;
  const details = {
    ...DETAILS,
    usageRateCards: [{ usageMeterId: ids["meter"], ...slabPricing }],
    licenseRateCards: [{ id: ids["LICENSE"], ...slabPricing, config: null }],
    creditGrantRateCards: [
      {
        id: ids["CREDIT_GRANT"],
        rateDetails: {
          pricingModel: "TIERED",
          currencySlabRateDetails: [{ currency: "USD", creditAmount: 5, slabDetails: [{ ...grantSlab, rate: 1 }] }],
        },
        grantDetails: { expiryType: "NO_EXPIRY" },
      },
    ],
    entitlementOverageRateCards: [{ featureId: ids["feature"], ...slabPricing, billingConfig: {} }],
  };
  const whole = { slabConfig: {}, endAt: null };
  const expectedCard = {
    ratePlan: { pricingModel: "TIERED", slabs: [{ ...slab, ...whole }] },
    rateValues: [{ currency: "USD", slabRates: [{ ...rate, slabRateConfig: null }] }],
    tag: null,
  };
  const { json } = await createAndReadPlan(details);
  expect(json).toMatchObject({
    rateDetails: null,
    entitlementRateCards: null,
    usageRateCards: [expectedCard],
    licenseRateCards: [{ ...expectedCard, config: { maxQuantity: null } }],
    creditGrantRateCards: [
      {
        tag: null,
        rateDetails: { currencySlabRateDetails: [{ slabDetails: [{ ...grantSlab, ...whole, slabRateConfig: null }] }] },
        grantDetails: { priority: 0, expiryType: "NO_EXPIRY", expiryDuration: null, applicableEntityIds: [] },
        recurrenceConfig: { interval: 1, offset: 0 },
      },
    ],
    entitlementOverageRateCards: [
      { ...expectedCard, maxQuantity: null, billingConfig: { interval: 1, startOffset: 0 } },
    ],
  });
});

test("minimumCommitment, rateDetails, entitlementRateCards and type are returned; without a minimumCommitment it is omitted", async () => {
  const more = {
    minimumCommitment: { displayName: "At least", rateValues: [{ currency: "USD", rate: 10 }] },
    rateDetails: { any: [1, "two", { three: null }] },
    entitlementRateCards: [{ featureId: "x", nested: { a: 1 } }],
    type: "BILLING",
  };
  expect((await createAndReadPlan({ ...DETAILS, ...more })).json).toEqual(answeredDetails({ ...DETAILS, ...more }));
  const none = {
    rateDetails: null,
    entitlementRateCards: null,
    type: null,
    minimumCommitment: null,
    usageRateCards: null,
  };
  expect((await createAndReadPlan({ ...DETAILS, ...none })).json).toEqual(answeredDetails(DETAILS));
  expect((await createAndReadPlan({ ...DETAILS, usageRateCards: [], rateDetails: {} })).json).toEqual(
    answeredDetails({ ...DETAILS, rateDetails: {} }),
  );
});

test("S7.4 configuration values of slabs and rates are numbers or texts, and are returned with the same type", async () => {
  const slabs = [
    {
      order: 1,
      startAfter: 0,
      priceType: "PACKAGE",
      slabConfig: { packageSize: "1000", chargeAtZero: "true" },
      endAt: 5000,
    },
    {
      order: 2,
      startAfter: 5000,
      priceType: "PACKAGE",
      slabConfig: { packageSize: 500, chargeAtZero: false },
      endAt: null,
    },
  ];
  const slabRates = [
    { order: 1, rate: 10, slabRateConfig: { minimumRate: "1.00", maximumRate: 20, flatRate: "0.50" } },
    { order: 2, rate: 7, slabRateConfig: { minimumRate: 1 } },
  ];
  const rateValues = [{ currency: "USD", slabRates, rateConfig: { minimumRate: "5.00", maximumRate: 500.25 } }];
  const ratePlan = { pricingModel: "VOLUME", slabs };
  const usageRateCards = [{ usageMeterId: ids["meter"], ratePlan, rateValues, tag: null }];
  expect((await createAndReadPlan({ ...DETAILS, usageRateCards })).json).toEqual(
    answeredDetails({ ...DETAILS, usageRateCards }),
  );
});

test("S1.2 a rate of more digits than a double is returned with all of them, and a text as a number", async () => {
  const card = { id: ids["FIXED_FEE"], rateValues: [{ currency: "USD", rate: "RATE" }] };
  const details = JSON.stringify({ ...DETAILS, fixedFeeRateCards: [card] });
  for (const [sent, expectedRate] of [
    ["0.12345678901234567891", "0.12345678901234567891"],
    ['"1234567890123456789.50"', "1234567890123456789.5"],
    ["1e-7", "0.0000001"],
  ] as const) {
    expect((await createAndReadPlan(details.replace('"RATE"', sent))).text).toContain(`"rate":${expectedRate}}`);
  }
});
