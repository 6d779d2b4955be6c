/** Wrong short books: each mistake is one problem, at the path as written (book.md). */
import { expect, test } from "vitest";

import { hasCode, readBook } from "../../../src/index.ts";

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- each case breaks the book in its own way
type AnyBook = any;

const createBook = (): AnyBook => ({
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

/** `path: message` of each problem. */
function findProblems(book: AnyBook): readonly string[] {
  try {
    readBook(book);
    return [];
  } catch (error) {
    if (!hasCode(error, "ERR_BOOK_INVALID")) throw error;
    return error.details.problems.map(({ path, message }) => `${path}: ${message}`);
  }
}

test("the book of these tests is valid", () => {
  expect(findProblems(createBook())).toEqual([]);
});

test.each<[mistake: string, change: (book: AnyBook) => void, problem: string]>([
  [
    "upTo not rising",
    (book) => (book.pricePlans[0].usage[0].tiers[1].upTo = 1000),
    "$.pricePlans[0].usage[0].tiers[1].upTo: expected more than 1000, got 1000",
  ],
  [
    "last tier with upTo",
    (book) => (book.pricePlans[0].usage[0].tiers[2].upTo = 9000),
    "$.pricePlans[0].usage[0].tiers[2].upTo: remove it; it can't be set in the last tier, which has no end",
  ],
  [
    "missing upTo",
    (book) => delete book.pricePlans[0].usage[0].tiers[0].upTo,
    "$.pricePlans[0].usage[0].tiers[0].upTo: missing: expected the last unit of the tier, because another tier follows",
  ],
  [
    "tier without rate",
    (book) => delete book.pricePlans[0].usage[0].tiers[2].rate,
    "$.pricePlans[0].usage[0].tiers[2].rate: missing: expected a rate or a flat amount",
  ],
  [
    "rate no decimal",
    (book) => (book.pricePlans[0].usage[0].tiers[2].rate = "abc"),
    '$.pricePlans[0].usage[0].tiers[2].rate: expected a decimal, got "abc"',
  ],
  [
    "rate too many digits",
    (book) => (book.pricePlans[0].usage[0].tiers[2].rate = "0.1234567890123456789012"),
    '$.pricePlans[0].usage[0].tiers[2].rate: expected a decimal within bounds: "0.1234567890123456789012" has more than 20 digits before the point or 20 after it',
  ],
  [
    "rate list",
    (book) => (book.pricePlans[0].usage[0].tiers[2].rate = [1]),
    '$.pricePlans[0].usage[0].tiers[2].rate: expected a decimal, or decimals by currency, such as { "USD": "0.002" }, got a list',
  ],
  [
    "unknown currency",
    (book) => (book.pricePlans[0].usage[0].tiers[2].rate = { USD: 1, EUR: 2 }),
    '$.pricePlans[0].usage[0].tiers[2].rate.EUR: expected "USD", a currency of the plan, got "EUR"',
  ],
  [
    "a plain rate in two currencies",
    (book) => {
      book.pricePlans = [{ id: "x", cycle: "MONTHLY", currencies: ["USD", "EUR"], fees: [{ id: "f", rate: 1 }] }];
      book.accounts = [];
    },
    '$.pricePlans[0].fees[0].rate: the plan has several currencies: write { "USD": \u2026, "EUR": \u2026 }',
  ],
  [
    "invalid currency",
    (book) => (book.pricePlans[0].currencies = ["XYZ"]),
    '$.pricePlans[0].currencies[0]: expected an ISO 4217 currency code such as USD, got "XYZ"',
  ],
  [
    "tiers and volumeTiers",
    (book) => (book.pricePlans[0].usage[0].volumeTiers = [{ rate: 1 }]),
    "$.pricePlans[0].usage[0].tiers: expected $.pricePlans[0].usage[0].tiers or $.pricePlans[0].usage[0].volumeTiers, got both",
  ],
  [
    "tiers and rate",
    (book) => (book.pricePlans[0].usage[0].rate = 1),
    "$.pricePlans[0].usage[0].rate: expected $.pricePlans[0].usage[0].rate or $.pricePlans[0].usage[0].tiers, got both",
  ],
  [
    "tiers and ratePlan",
    (book) =>
      (book.pricePlans[0].usage[0].ratePlan = {
        pricingModel: "TIERED",
        slabs: [{ order: 1, startAfter: 0, priceType: "PER_UNIT" }],
      }),
    "$.pricePlans[0].usage[0].tiers: expected $.pricePlans[0].usage[0].tiers or $.pricePlans[0].usage[0].ratePlan, got both",
  ],
  [
    "usage and usageRateCards",
    (book) => (book.pricePlans[0].usageRateCards = []),
    "$.pricePlans[0].usage: expected $.pricePlans[0].usage or $.pricePlans[0].usageRateCards, got both",
  ],
  [
    "both plans",
    (book) => (book.pricePlans[0].pricePlanDetails = {}),
    "$.pricePlans[0].cycle: expected $.pricePlans[0].cycle or $.pricePlans[0].pricePlanDetails, got both",
  ],
  [
    "cycle and config",
    (book) => (book.pricePlans[0].pricingCycleConfig = { interval: "MONTHLY", startOffset: { dayOffset: "1" } }),
    "$.pricePlans[0].cycle: expected $.pricePlans[0].cycle or $.pricePlans[0].pricingCycleConfig, got both",
  ],
  [
    "sum of unknown",
    (book) => (book.usageMeters[0].sum = "callz"),
    '$.usageMeters[0].sum: the event schema has no "attribute.callz"',
  ],
  [
    "where of unknown",
    (book) => (book.usageMeters[0].where = { zone: "x" }),
    '$.usageMeters[0].where: the event schema has no "dimension.zone"',
  ],
  [
    "where bad",
    (book) => (book.usageMeters[0].where = { region: { nott: 1 } }),
    "$.usageMeters[0].where.region: expected a string or a number, got an object",
  ],
  [
    "where empty",
    (book) => (book.usageMeters[0].where = {}),
    '$.usageMeters[0].where: missing: expected a condition, such as { "region": "eu" }',
  ],
  [
    "count and sum",
    (book) => (book.usageMeters[0].count = true),
    "$.usageMeters[0].count: expected $.usageMeters[0].count or $.usageMeters[0].sum, got both",
  ],
  [
    "no count no sum",
    (book) => delete book.usageMeters[0].sum,
    '$.usageMeters[0].sum: missing: expected "count": true, or one of sum, max, min, unique, latest, level, change',
  ],
  [
    "sum and computations",
    (book) => (book.usageMeters[0].computations = [{ order: 1 }]),
    "$.usageMeters[0].sum: expected $.usageMeters[0].sum or $.usageMeters[0].computations, got both",
  ],
  [
    "unknown schema",
    (book) => (book.usageMeters[0].schema = "api_cal"),
    '$.usageMeters[0].schema: expected the name of an event schema, got "api_cal": did you mean "api_call"?',
  ],
  ["no schema", (book) => delete book.usageMeters[0].schema, "$.usageMeters[0].schema: missing: expected a string"],
  [
    "unknown meter",
    (book) => (book.pricePlans[0].usage[0].meter = "um.call"),
    '$.pricePlans[0].usage[0].meter: expected the id or name of a usage meter, got "um.call": did you mean "um.calls"?',
  ],
  [
    "two cards",
    (book) => book.pricePlans[0].usage.push({ meter: "um.calls", rate: 1 }),
    "$.pricePlans[0].usage[1].meter: the meter is already used by $.pricePlans[0].usage[0]",
  ],
  [
    "fee two names",
    (book) => book.pricePlans.push({ id: "b", cycle: "MONTHLY", fees: [{ id: "platform", name: "Other", rate: 1 }] }),
    '$.pricePlans[1].fees[0].name: "platform" already has the name "Platform fee"',
  ],
  [
    "fee is license",
    (book) => book.pricePlans[0].licenses.push({ id: "platform", rate: 1 }),
    '$.pricePlans[0].licenses[1].id: expected an add-on of type LICENSE, but "platform" has type FIXED_FEE',
  ],
  [
    "long name",
    (book) => (book.pricePlans[0].fees[0].invoiceTiming = "IN_ADVANCE"),
    '$.pricePlans[0].fees[0].invoiceTiming: unknown field: did you mean "timing"?',
  ],
  [
    "misspelt",
    (book) => (book.pricePlans[0].fees[0].prorat = true),
    '$.pricePlans[0].fees[0].prorat: unknown field: did you mean "prorate"?',
  ],
  [
    "bad timing",
    (book) => (book.pricePlans[0].fees[0].timing = "NOW"),
    '$.pricePlans[0].fees[0].timing: expected "IN_ARREARS" or "IN_ADVANCE", got "NOW"',
  ],
  [
    "bad cycle",
    (book) => (book.pricePlans[0].cycle = "DAILY"),
    '$.pricePlans[0].cycle: expected "WEEKLY", "MONTHLY", "QUARTERLY", "HALF_YEARLY" or "ANNUALLY", got "DAILY"',
  ],
  [
    "bad day",
    (book) => (book.pricePlans[0].cycle = { interval: "MONTHLY", day: 40 }),
    "$.pricePlans[0].cycle.day: expected at most 31, got 40",
  ],
  [
    "month in monthly",
    (book) => (book.pricePlans[0].cycle = { interval: "MONTHLY", day: 4, month: 2 }),
    "$.pricePlans[0].cycle.month: expected none with the interval MONTHLY, got 2",
  ],
  [
    "day of no week",
    (book) => (book.pricePlans[0].cycle = { interval: "WEEKLY", day: 9 }),
    "$.pricePlans[0].cycle.day: expected 1 to 7 or LAST with the interval WEEKLY, got 9",
  ],
  [
    "rates without a rate plan",
    (book) =>
      (book.pricePlans[0].overages[0] = {
        feature: "gb",
        rateValues: [{ currency: "USD", slabRates: [{ order: 1, rate: 1 }] }],
      }),
    "$.pricePlans[0].overages[0].ratePlan: missing: expected ratePlan and rateValues",
  ],
  [
    "no cycle",
    (book) => delete book.pricePlans[0].cycle,
    "$.pricePlans[0].cycle: missing: expected an interval such as MONTHLY",
  ],
  [
    "per 0",
    (book) => (book.pricePlans[0].overages[0].per = 0),
    "$.pricePlans[0].overages[0].per: expected more than 0, got 0",
  ],
  [
    "per 3",
    (book) => {
      book.pricePlans[0].overages[0].per = 3;
    },
    "$.pricePlans[0].overages[0].rate: 0.01 per 3 units is no exact decimal for one unit",
  ],
  [
    "per beside a flat amount",
    (book) => (book.pricePlans[0].entitlements[0].per = 10),
    "$.pricePlans[0].entitlements[0].per: remove it; it can't be set without a rate",
  ],
  [
    "a package in a tier without a rate",
    (book) => (book.pricePlans[0].usage[0].tiers[2] = { flat: 1, package: 10 }),
    "$.pricePlans[0].usage[0].tiers[2].package: remove it; it can't be set without a rate",
  ],
  [
    "a package without a rate or a flat amount",
    (book) => (book.pricePlans[0].overages[0] = { feature: "gb", package: 10 }),
    "$.pricePlans[0].overages[0].rate: missing: expected a rate or a flat amount",
  ],
  [
    "per 0 beside tiers",
    (book) => (book.pricePlans[0].usage[0].per = 0),
    "$.pricePlans[0].usage[0].per: expected more than 0, got 0",
  ],
  [
    "from alone",
    (book) => (book.accounts[0] = { id: "contoso", from: "2026-01-01" }),
    "$.accounts[0].from: remove it; it can't be set without a plan, licenses or credits",
  ],
  [
    "a meter whose id is no name",
    (book) => delete book.usageMeters[0].name,
    "$.usageMeters[0].name: missing: expected a name, because the id has characters that a name cannot have",
  ],
  [
    "computed in the wrong order",
    (book) => (book.eventSchemas[0].computed = { a: { var: "attribute.b" }, b: 1 }),
    '$.eventSchemas[0].computed.a: the rule of "a" uses "b", which is computed after it',
  ],
  [
    "a sum that is null",
    (book) => (book.usageMeters[0].sum = null),
    '$.usageMeters[0].sum: missing: expected "count": true, or one of sum, max, min, unique, latest, level, change',
  ],
  [
    "a fee without a rate",
    (book) => delete book.pricePlans[0].fees[0].rate,
    "$.pricePlans[0].fees[0].rate: missing: expected a rate",
  ],
  [
    "a wrong first day of several plans",
    (book) =>
      (book.accounts[0] = { id: "contoso", plans: [{ plan: "team", from: "2026-13-01" }], licenses: { seats: 5 } }),
    '$.accounts[0].plans[0].from: "2026-13-01" is not a date: there is no month 13',
  ],
  [
    "a credit without a day",
    (book) => (book.accounts[0] = { id: "contoso", credits: [{ purpose: "Welcome", amount: 5 }] }),
    "$.accounts[0].credits[0].from: missing: expected the first day, because the account has no from",
  ],
  [
    "per and package",
    (book) => {
      book.pricePlans[0].overages[0].per = 10;
      book.pricePlans[0].overages[0].package = 10;
    },
    "$.pricePlans[0].overages[0].per: expected $.pricePlans[0].overages[0].per or $.pricePlans[0].overages[0].package, got both",
  ],
  [
    "package -1",
    (book) => {
      book.pricePlans[0].overages[0].package = -1;
    },
    "$.pricePlans[0].overages[0].package: expected more than 0, got -1",
  ],
  [
    "min above max",
    (book) => {
      book.pricePlans[0].usage[0].minimum = 5;
      book.pricePlans[0].usage[0].maximum = 3;
    },
    "$.pricePlans[0].usage[0].minimum: expected at most 3, the maximum, got 5",
  ],
  [
    "tier min above max",
    (book) => {
      book.pricePlans[0].usage[0].tiers[0].minimum = 5;
      book.pricePlans[0].usage[0].tiers[0].maximum = 3;
    },
    "$.pricePlans[0].usage[0].tiers[0].minimum: expected at most 3, the maximum, got 5",
  ],
  [
    "entitlement no quantity",
    (book) => delete book.pricePlans[0].entitlements[0].quantity,
    "$.pricePlans[0].entitlements[0].quantity: missing: expected the units that are granted",
  ],
  [
    "entitlement no for",
    (book) => delete book.pricePlans[0].entitlements[0].for,
    "$.pricePlans[0].entitlements[0].for: missing: expected a duration such as P1M",
  ],
  [
    "entitlement bad for",
    (book) => (book.pricePlans[0].entitlements[0].for = "1 month"),
    '$.pricePlans[0].entitlements[0].for: expected an ISO 8601 duration: "1 month" is not a duration: expected a duration such as P1Y2M3W4DT5H6M7.5S',
  ],
  [
    "credit bad for",
    (book) => (book.pricePlans[0].credits[0].for = "1 month"),
    '$.pricePlans[0].credits[0].for: expected an ISO 8601 duration: "1 month" is not a duration: expected a duration such as P1Y2M3W4DT5H6M7.5S',
  ],
  [
    "credit no amount",
    (book) => delete book.pricePlans[0].credits[0].amount,
    "$.pricePlans[0].credits[0].amount: missing: expected the money that is granted",
  ],
  [
    "credit negative",
    (book) => (book.pricePlans[0].credits[0].amount = -1),
    "$.pricePlans[0].credits[0].amount: expected 0 or more, got -1",
  ],
  [
    "commitment negative",
    (book) => (book.pricePlans[0].commitment = -1),
    "$.pricePlans[0].commitment: expected 0 or more, got -1",
  ],
  [
    "unknown plan",
    (book) => (book.accounts[0].plan = "teem"),
    '$.accounts[0].plan: expected the id or name of a price plan, got "teem": did you mean "team"?',
  ],
  [
    "bad from",
    (book) => (book.accounts[0].from = "2026-13-01"),
    '$.accounts[0].from: "2026-13-01" is not a date: there is no month 13',
  ],
  [
    "a plan in other currencies than the organization's, which an override uses too",
    (book) => {
      const fees = [{ id: "a", rate: { EUR: 1, JPY: 100 } }];
      book.pricePlans = [{ id: "x", cycle: "MONTHLY", currencies: ["EUR", "JPY"], fees, commitment: [] }];
      const plans = [{ plan: "x", from: "2026-01-01", override: { fees } }];
      book.accounts = [{ id: "contoso", invoiceCurrency: "EUR", plans }];
    },
    '$.pricePlans[0].commitment: expected a decimal, or decimals by currency, such as { "USD": "0.002" }, got an empty list',
  ],
  [
    "a meter that says nothing",
    (book) => (book.usageMeters[0] = { id: "um.calls", name: "API calls" }),
    "$.usageMeters[0].schema: missing: expected a string",
  ],
  [
    "plan and plans",
    (book) => (book.accounts[0].plans = []),
    "$.accounts[0].plan: expected $.accounts[0].plan or $.accounts[0].plans, got both",
  ],
  [
    "unknown license",
    (book) => (book.accounts[0].licenses = { seat: 5 }),
    '$.accounts[0].licenses.seat: expected the id or name of an add-on, got "seat": did you mean "seats"?',
  ],
  [
    "license text",
    (book) => (book.accounts[0].licenses = { seats: "five" }),
    '$.accounts[0].licenses.seats: expected a decimal, got "five"',
  ],
  [
    "license list bad",
    (book) => (book.accounts[0].licenses = { seats: [{ from: "x", quantity: 1 }] }),
    '$.accounts[0].licenses.seats[0].from: "x" is not a date: expected 2024-01-02 or a date-time such as 2024-01-02T03:04:05Z',
  ],
  [
    "listed customer",
    (book) => (book.customers = [{ id: "contoso", name: "Contoso" }]),
    '$.accounts[0].customerId: missing: expected the id of the account\'s customer, because a customer "contoso" is listed',
  ],
  [
    "short id",
    (book) => (book.accounts[0].id = "a"),
    "$.accounts[0].name: missing: expected 3 to 255 characters, because the id is shorter",
  ],
  [
    "attributes and computed same",
    (book) => (book.eventSchemas[0].computed = { calls: 1 }),
    "$.eventSchemas[0].computed.calls: the name is already used by a declared field",
  ],
  [
    "computed unknown",
    (book) => (book.eventSchemas[0].computed = { x: { var: "attribute.y" } }),
    '$.eventSchemas[0].computed.x: in the rule: the event schema has no "attribute.y"',
  ],
  [
    "computed and enrichments",
    (book) => {
      book.eventSchemas[0].computed = { x: 1 };
      book.eventSchemas[0].enrichments = {};
    },
    "$.eventSchemas[0].computed: expected $.eventSchemas[0].computed or $.eventSchemas[0].enrichments, got both",
  ],
  [
    "attribute number",
    (book) => (book.eventSchemas[0].attributes = ["calls", 3]),
    "$.eventSchemas[0].attributes[1]: expected a string or an object, got 3",
  ],
  [
    "repeated attribute",
    (book) => (book.eventSchemas[0].attributes = ["calls", "calls"]),
    "$.eventSchemas[0].attributes[1]: the name is already used by $.eventSchemas[0].attributes[0]",
  ],
  [
    "proto license",
    (book) => (book.accounts[0].licenses = JSON.parse('{"__proto__": 5}')),
    "$.accounts[0].licenses.__proto__: this key cannot be stored: rename it",
  ],
])("%s", (_, change, problem) => {
  const book = createBook();
  change(book);
  expect(findProblems(book)).toEqual([problem]);
});
