/**
 * Rate cards of price plans over HTTP: defaults, and values as they were sent (S7 to S13). That every field of each kind
 * is returned as sent is in test/contract/price-plan.cases.ts.
 */
import { beforeAll, expect, test } from "vitest";

import { activeMeter, addOn, answeredDetails, DETAILS } from "../requests.ts";
import { bindCalls, startApi, type TestApi } from "../support.ts";

let api: TestApi;
/** The items that the cards price, by type. */
const ids: Record<string, string> = {};
let plans = 0;

const { call, send } = bindCalls(() => api);

beforeAll(async () => {
  api = await startApi();
  ids["meter"] = await activeMeter(send);
  for (const type of ["FIXED_FEE", "LICENSE", "CREDIT_GRANT"] as const) ids[type] = await addOn(send, type);
  ids["feature"] = (await send("POST /features", { name: "Tokens" })).id;
});

/** Creates a plan with these details, and reads it. */
async function createAndReadPlan(details: object | string): Promise<{ readonly json: unknown; readonly text: string }> {
  plans += 1;
  const pricePlanDetails = typeof details === "string" ? "DETAILS" : details;
  const body = JSON.stringify({ name: `Plan ${plans}`, type: "BILLING", pricePlanDetails });
  const { id } = await send(
    "POST /price_plans",
    typeof details === "string" ? body.replace('"DETAILS"', details) : body,
  );
  const got = await call(`GET /price_plans/${id}`);
  return { json: got.json.pricingSchedule[0].pricePlanDetails, text: got.text };
}

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
    fixedFeeRateCards: [{ id: ids["FIXED_FEE"], rateValues: [{ currency: "USD", rate: 1 }] }],
    licenseRateCards: [{ id: ids["LICENSE"], ...slabPricing, config: null }],
    billingEntitlementRateCards: [
      {
        featureId: ids["feature"],
        ...slabPricing,
        featureConfigs: [{ featureCreditLimit: 1000, effectiveUntil: "P1M" }],
        recurrenceConfig: { interval: 2 },
      },
    ],
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
  const byDefault = { tag: null, invoiceTiming: "IN_ARREARS" };
  expect(json).toMatchObject({
    rateDetails: null,
    entitlementRateCards: null,
    usageRateCards: [expectedCard],
    fixedFeeRateCards: [
      { ...byDefault, enableProration: false, type: "RECURRING", recurrenceConfig: { interval: null, offset: null } },
    ],
    licenseRateCards: [{ ...expectedCard, ...byDefault, enableProration: false, config: { maxQuantity: null } }],
    billingEntitlementRateCards: [{ ...expectedCard, ...byDefault, recurrenceConfig: { interval: 2, offset: null } }],
    creditGrantRateCards: [
      {
        ...byDefault,
        type: "RECURRING",
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
  const nulls = { rateDetails: null, entitlementRateCards: null, type: null, minimumCommitment: null };
  const none = { ...nulls, usageRateCards: null };
  expect((await createAndReadPlan({ ...DETAILS, ...none })).json).toEqual(answeredDetails(DETAILS));
  expect((await createAndReadPlan({ ...DETAILS, usageRateCards: [], rateDetails: {} })).json).toEqual(
    answeredDetails({ ...DETAILS, rateDetails: {} }),
  );
});

test("S7.4 configuration values of slabs and rates are numbers or texts, and are returned with the same type", async () => {
  const texts = { packageSize: "1000", chargeAtZero: "true" };
  const values = { packageSize: 500, chargeAtZero: false };
  const slabs = [
    { order: 1, startAfter: 0, priceType: "PACKAGE", slabConfig: texts, endAt: 5000 },
    { order: 2, startAfter: 5000, priceType: "PACKAGE", slabConfig: values, endAt: null },
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
