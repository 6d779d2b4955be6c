/** Wrong short books: each mistake is one problem, at the path as written (book.md). */
import { expect, test } from "vitest";

import { readBook, type ShortBookInput } from "../../../src/index.ts";
import { listProblems, testProblems } from "../break-book.ts";

const createBook = (): ShortBookInput => ({
  organization: { id: "acme" },
  eventSchemas: [{ name: "api_call", attributes: ["calls"], dimensions: ["region"] }],
  usageMeters: [
    { id: "um.calls", name: "API calls", schema: "api_call", sum: "calls", where: { region: ["eu", "us"] } },
  ],
  pricePlans: [
    {
      id: "team",
      name: "Team",
      cycle: "MONTHLY",
      usage: [
        { meter: "um.calls", tiers: [{ upTo: 1000, rate: 0 }, { upTo: 5000, rate: "0.003" }, { rate: "0.002" }] },
      ],
      fees: [{ id: "platform", name: "Platform fee", rate: 49, timing: "IN_ADVANCE" }],
      licenses: [{ id: "seats", name: "Seats", rate: 12, prorate: true }],
      entitlements: [{ feature: "gb", quantity: 10, for: "P1M", flat: 80 }],
      overages: [{ feature: "gb", rate: "0.01" }],
      credits: [{ id: "promo", amount: 10, flat: 5, for: "P1M" }],
      commitment: 100,
    },
  ],
  accounts: [{ id: "contoso", plan: "team", from: "2026-01-01", licenses: { seats: 5 } }],
});

test("the book of these tests is valid", () => {
  expect(listProblems(() => readBook(createBook()))).toEqual([]);
});

const fees = `fees: [{ id: "a", rate: { EUR: 1, JPY: 100 } }]`;

testProblems(
  "a mistake",
  `
    pricePlans[0].usage[0].tiers[1].upTo = 1000
      expected more than 1000, got 1000
    pricePlans[0].usage[0].tiers[2].upTo = 9000
      remove it; it can't be set in the last tier, which has no end
    pricePlans[0].usage[0].tiers[0].upTo = undefined
      missing: expected the last unit of the tier, because another tier follows
    pricePlans[0].usage[0].tiers[2].rate = undefined
      missing: expected a rate or a flat amount
    pricePlans[0].usage[0].tiers[2].rate = "abc"
      expected a decimal, got "abc"
    pricePlans[0].usage[0].tiers[2].rate = "0.1234567890123456789012"
      expected a decimal within bounds: "0.1234567890123456789012" has more than 20 digits before the point or 20 after it
    pricePlans[0].usage[0].tiers[2].rate = [1]
      expected a decimal, or decimals by currency, such as { "USD": "0.002" }, got a list
    pricePlans[0].usage[0].tiers[2].rate = { USD: 1, EUR: 2 }
      .EUR: expected "USD", a currency of the plan, got "EUR"
    pricePlans = [{ id: "x", cycle: "MONTHLY", currencies: ["USD", "EUR"], fees: [{ id: "f", rate: 1 }] }]
    accounts = []
      $.pricePlans[0].fees[0].rate: the plan has several currencies: write { "USD": …, "EUR": … }
    pricePlans[0].currencies = ["XYZ"]
      [0]: expected an ISO 4217 currency code such as USD, got "XYZ"
    pricePlans[0].usage[0].volumeTiers = [{ rate: 1 }]
      $.pricePlans[0].usage[0].tiers: expected $.pricePlans[0].usage[0].tiers or $.pricePlans[0].usage[0].volumeTiers, got both
    pricePlans[0].usage[0].rate = 1
      expected $.pricePlans[0].usage[0].rate or $.pricePlans[0].usage[0].tiers, got both
    pricePlans[0].usage[0].ratePlan = { pricingModel: "TIERED", slabs: [{ order: 1, startAfter: 0, priceType: "PER_UNIT" }] }
      $.pricePlans[0].usage[0].tiers: expected $.pricePlans[0].usage[0].tiers or $.pricePlans[0].usage[0].ratePlan, got both
    pricePlans[0].usageRateCards = []
      $.pricePlans[0].usage: expected $.pricePlans[0].usage or $.pricePlans[0].usageRateCards, got both
    pricePlans[0].pricePlanDetails = {}
      $.pricePlans[0].cycle: expected $.pricePlans[0].cycle or $.pricePlans[0].pricePlanDetails, got both
    pricePlans[0].pricingCycleConfig = { interval: "MONTHLY", startOffset: { dayOffset: "1" } }
      $.pricePlans[0].cycle: expected $.pricePlans[0].cycle or $.pricePlans[0].pricingCycleConfig, got both
    usageMeters[0].sum = "callz"
      the event schema has no "attribute.callz"
    usageMeters[0].where = { zone: "x" }
      the event schema has no "dimension.zone"
    usageMeters[0].where = { region: { nott: 1 } }
      .region: expected a string or a number, got an object
    usageMeters[0].where = {}
      missing: expected a condition, such as { "region": "eu" }
    usageMeters[0].count = true
      expected $.usageMeters[0].count or $.usageMeters[0].sum, got both
    usageMeters[0].sum = undefined
      missing: expected "count": true, or one of sum, max, min, unique, latest, level, change
    usageMeters[0].computations = [{ order: 1 }]
      $.usageMeters[0].sum: expected $.usageMeters[0].sum or $.usageMeters[0].computations, got both
    usageMeters[0].schema = "api_cal"
      expected the name of an event schema, got "api_cal": did you mean "api_call"?
    usageMeters[0].schema = undefined
      missing: expected a string
    pricePlans[0].usage[0].meter = "um.call"
      expected the id or name of a usage meter, got "um.call": did you mean "um.calls"?
    pricePlans[0].usage[1] = { meter: "um.calls", rate: 1 }
      .meter: the meter is already used by $.pricePlans[0].usage[0]
    pricePlans[1] = { id: "b", cycle: "MONTHLY", fees: [{ id: "platform", name: "Other", rate: 1 }] }
      .fees[0].name: "platform" already has the name "Platform fee"
    pricePlans[0].licenses[1] = { id: "platform", rate: 1 }
      .id: expected an add-on of type LICENSE, but "platform" has type FIXED_FEE
    pricePlans[0].fees[0].invoiceTiming = "IN_ADVANCE"
      unknown field: did you mean "timing"?
    pricePlans[0].fees[0].prorat = true
      unknown field: did you mean "prorate"?
    pricePlans[0].fees[0].timing = "NOW"
      expected "IN_ARREARS" or "IN_ADVANCE", got "NOW"
    pricePlans[0].cycle = "DAILY"
      expected "WEEKLY", "MONTHLY", "QUARTERLY", "HALF_YEARLY" or "ANNUALLY", got "DAILY"
    pricePlans[0].cycle = { interval: "MONTHLY", day: 40 }
      .day: expected at most 31, got 40
    pricePlans[0].cycle = { interval: "MONTHLY", day: 4, month: 2 }
      .month: expected none with the interval MONTHLY, got 2
    pricePlans[0].cycle = { interval: "WEEKLY", day: 9 }
      .day: expected 1 to 7 or LAST with the interval WEEKLY, got 9
    pricePlans[0].overages[0] = { feature: "gb", rateValues: [{ currency: "USD", slabRates: [{ order: 1, rate: 1 }] }] }
      .ratePlan: missing: expected ratePlan and rateValues
    pricePlans[0].cycle = undefined
      missing: expected an interval such as MONTHLY
    pricePlans[0].overages[0].per = 0
      expected more than 0, got 0
    pricePlans[0].overages[0].per = 3
      $.pricePlans[0].overages[0].rate: 0.01 per 3 units is no exact decimal for one unit
    pricePlans[0].entitlements[0].per = 10
      remove it; it can't be set without a rate
    pricePlans[0].usage[0].tiers[2] = { flat: 1, package: 10 }
      .package: remove it; it can't be set without a rate
    pricePlans[0].overages[0] = { feature: "gb", package: 10 }
      .rate: missing: expected a rate or a flat amount
    pricePlans[0].usage[0].per = 0
      expected more than 0, got 0
    accounts[0] = { id: "contoso", from: "2026-01-01" }
      .from: remove it; it can't be set without a plan, licenses or credits
    usageMeters[0].name = undefined
      missing: expected a name, because the id has characters that a name cannot have
    eventSchemas[0].computed = { a: { var: "attribute.b" }, b: 1 }
      .a: the rule of "a" uses "b", which is computed after it
    usageMeters[0].sum = null
      missing: expected "count": true, or one of sum, max, min, unique, latest, level, change
    pricePlans[0].fees[0].rate = undefined
      missing: expected a rate
    accounts[0] = { id: "contoso", plans: [{ plan: "team", from: "2026-13-01" }], licenses: { seats: 5 } }
      .plans[0].from: "2026-13-01" is not a date: there is no month 13
    accounts[0] = { id: "contoso", credits: [{ purpose: "Welcome", amount: 5 }] }
      .credits[0].from: missing: expected the first day, because the account has no from
    pricePlans[0].overages[0].per = 10
    pricePlans[0].overages[0].package = 10
      $.pricePlans[0].overages[0].per: expected $.pricePlans[0].overages[0].per or $.pricePlans[0].overages[0].package, got both
    pricePlans[0].overages[0].package = -1
      expected more than 0, got -1
    pricePlans[0].usage[0].minimum = 5
    pricePlans[0].usage[0].maximum = 3
      $.pricePlans[0].usage[0].minimum: expected at most 3, the maximum, got 5
    pricePlans[0].usage[0].tiers[0].minimum = 5
    pricePlans[0].usage[0].tiers[0].maximum = 3
      $.pricePlans[0].usage[0].tiers[0].minimum: expected at most 3, the maximum, got 5
    pricePlans[0].entitlements[0].quantity = undefined
      missing: expected the units that are granted
    pricePlans[0].entitlements[0].for = undefined
      missing: expected a duration such as P1M
    pricePlans[0].entitlements[0].for = "1 month"
      expected an ISO 8601 duration: "1 month" is not a duration: expected a duration such as P1Y2M3W4DT5H6M7.5S
    pricePlans[0].credits[0].for = "1 month"
      expected an ISO 8601 duration: "1 month" is not a duration: expected a duration such as P1Y2M3W4DT5H6M7.5S
    pricePlans[0].credits[0].amount = undefined
      missing: expected the money that is granted
    pricePlans[0].credits[0].amount = -1
      expected 0 or more, got -1
    pricePlans[0].commitment = -1
      expected 0 or more, got -1
    accounts[0].plan = "teem"
      expected the id or name of a price plan, got "teem": did you mean "team"?
    accounts[0].from = "2026-13-01"
      "2026-13-01" is not a date: there is no month 13
    pricePlans = [{ id: "x", cycle: "MONTHLY", currencies: ["EUR", "JPY"], ${fees}, commitment: [] }]
    accounts = [{ id: "contoso", invoiceCurrency: "EUR", plans: [{ plan: "x", from: "2026-01-01", override: { ${fees} } }] }]
      $.pricePlans[0].commitment: expected a decimal, or decimals by currency, such as { "USD": "0.002" }, got an empty list
    usageMeters[0] = { id: "um.calls", name: "API calls" }
      .schema: missing: expected a string
    accounts[0].plans = []
      $.accounts[0].plan: expected $.accounts[0].plan or $.accounts[0].plans, got both
    accounts[0].licenses = { seat: 5 }
      .seat: expected the id or name of an add-on, got "seat": did you mean "seats"?
    accounts[0].licenses = { seats: "five" }
      .seats: expected a decimal, got "five"
    accounts[0].licenses = { seats: [{ from: "x", quantity: 1 }] }
      .seats[0].from: "x" is not a date: expected 2024-01-02 or a date-time such as 2024-01-02T03:04:05Z
    customers = [{ id: "contoso", name: "Contoso" }]
      $.accounts[0].customerId: missing: expected the id of the account's customer, because a customer "contoso" is listed
    accounts[0].id = "a"
      $.accounts[0].name: missing: expected 3 to 255 characters, because the id is shorter
    eventSchemas[0].computed = { calls: 1 }
      .calls: the name is already used by a declared field
    eventSchemas[0].computed = { x: { var: "attribute.y" } }
      .x: in the rule: the event schema has no "attribute.y"
    eventSchemas[0].computed = { x: 1 }
    eventSchemas[0].enrichments = {}
      $.eventSchemas[0].computed: expected $.eventSchemas[0].computed or $.eventSchemas[0].enrichments, got both
    eventSchemas[0].attributes = ["calls", 3]
      [1]: expected a string or an object, got 3
    eventSchemas[0].attributes = ["calls", "calls"]
      [1]: the name is already used by $.eventSchemas[0].attributes[0]
    accounts[0].licenses = { __proto__: 5 }
      .__proto__: this key cannot be stored: rename it
  `,
  createBook,
);
