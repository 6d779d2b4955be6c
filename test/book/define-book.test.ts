/** Type errors of a book while it is written, in both forms. The compiler checks each expected error. */
import { expect, test } from "vitest";

import {
  type BookInput,
  Decimal,
  defineBook,
  parseBook,
  priceQuantity,
  readBook,
  type ShortBookInput,
} from "../../src/index.ts";

const SLABS = [{ order: 1, startAfter: 0, priceType: "PER_UNIT" }] as const;
const RATES = [{ currency: "USD", slabRates: [{ order: 1, rate: "0.002" }] }] as const;
const METER = {
  id: "um.calls",
  name: "API calls",
  aggregation: "COUNT",
  eventSchemaName: "call",
  computations: [{ order: 1 }],
} as const;
const card = { ratePlan: { pricingModel: "TIERED", slabs: SLABS }, rateValues: RATES } as const;

test("a book written with defineBook reads like any other", () => {
  const book = defineBook({
    organization: { id: "acme" },
    eventSchemas: [{ name: "call" }],
    usageMeters: [METER],
    pricePlans: [
      { id: "pp", name: "Plan", pricePlanDetails: { usageRateCards: [{ usageMeterId: "API calls", ...card }] } },
    ],
  });
  expect(readBook(book).pricePlans[0]?.pricePlanDetails.usageRateCards[0]?.usageMeterId).toBe("um.calls");
});

test("a usage card may only name a meter of the book", () => {
  const book = defineBook({
    eventSchemas: [{ name: "call" }],
    usageMeters: [METER],
    pricePlans: [
      {
        id: "pp",
        name: "Plan",
        // @ts-expect-error -- "um.cals" is not assignable to "um.calls" or "API calls"
        pricePlanDetails: { usageRateCards: [{ usageMeterId: "um.cals", ...card }] },
      },
    ],
  });
  expect(() => readBook(book)).toThrow(
    'expected the id or name of a usage meter, got "um.cals": did you mean "um.calls"?',
  );
});

test("a misspelt value or field, or a wrong type, is a type error in readBook and in defineBook", () => {
  const typoCard = { ratePlan: { pricingModel: "TIRED", slabs: SLABS }, rateValues: RATES, usageMeterId: "m" } as const;
  const plan = { id: "a", name: "a", pricePlanDetails: { usageRateCards: [typoCard] } } as const;
  // @ts-expect-error -- "TIRED" is not a pricing model: did you mean "TIERED"?
  expect(() => readBook({ pricePlans: [plan] })).toThrow('expected "TIERED" or "VOLUME", got "TIRED"');
  // @ts-expect-error -- a misspelt field
  expect(() => readBook({ acounts: [] })).toThrow('unknown field: did you mean "accounts"?');
  // @ts-expect-error -- a customer needs a name
  expect(() => defineBook({ customers: [{ id: "a" }] })).not.toThrow();
  // @ts-expect-error -- an unknown value must go through parseBook
  expect(() => readBook(JSON.parse("5") as unknown)).toThrow("expected an object");
  expect(() => parseBook(JSON.parse("5"))).toThrow("expected an object");
});

test("a book declared `as const` is accepted, and null equals a missing field", () => {
  const book = {
    organization: { id: "acme", name: null },
    accounts: null,
    settings: undefined,
  } as const satisfies BookInput;
  expect(readBook(book).accounts).toEqual([]);
  // 2,500 at 0.002 are 5.
  const charge = priceQuantity({ pricingModel: "TIERED", slabs: SLABS } as const, RATES[0], new Decimal(2500));
  expect(charge.amount.toFixed()).toBe("5");
});

const SCHEMA = { name: "api_call", attributes: ["calls"], computed: { thousands: 1 } } as const;
const SCHEMAS = { eventSchemas: [SCHEMA] } as const;
const TEAM = { id: "team", cycle: "MONTHLY" } as const;
const CONTOSO = { id: "contoso", from: "2026-01-01" } as const;

/** Expects the problem that reading finds in a book that the compiler rejects. */
function expectProblem(book: ShortBookInput, problem: string): void {
  expect(() => readBook(book)).toThrow(problem);
}

test("a short book written with defineBook reads like any other", () => {
  const book = defineBook({
    ...SCHEMAS,
    usageMeters: [{ id: "um.calls", name: "API calls", schema: "api_call", sum: "calls" }],
    pricePlans: [{ ...TEAM, usage: [{ meter: "um.calls", rate: "0.002" }] }],
    addOns: [{ id: "kiosks", name: "Kiosks", type: "LICENSE" }],
    accounts: [{ ...CONTOSO, plan: "team", licenses: { kiosks: 5 } }],
  });
  expect(readBook(book).pricePlans[0]?.pricePlanDetails.usageRateCards[0]?.usageMeterId).toBe("um.calls");
});

test("a misspelt meter, attribute, schema, plan or license is a type error", () => {
  const meter = { id: "um.calls", name: "API calls", schema: "api_call" } as const;
  const meters = { ...SCHEMAS, usageMeters: [{ ...meter, sum: "calls" }] } as const;
  // @ts-expect-error -- "um.cals" is not a meter of the book
  const named = defineBook({ ...meters, pricePlans: [{ ...TEAM, usage: [{ meter: "um.cals", rate: 1 }] }] });
  expectProblem(named, 'got "um.cals": did you mean "um.calls"?');
  const plain = { ...SCHEMAS, usageMeters: [{ id: "calls", schema: "api_call", count: true }] } as const;
  // @ts-expect-error -- "cals" is not a meter of the book, whose meter has no name
  const unnamed = defineBook({ ...plain, pricePlans: [{ ...TEAM, usage: [{ meter: "cals", rate: 1 }] }] });
  expectProblem(unnamed, 'got "cals": did you mean "calls"?');
  // @ts-expect-error -- "cals" is not an attribute of the schema
  const attribute = defineBook({ ...SCHEMAS, usageMeters: [{ ...meter, sum: "cals" }] });
  expectProblem(attribute, '$.usageMeters[0].sum: the event schema has no "attribute.cals"');
  // @ts-expect-error -- "api_cal" is not a schema of the book
  const schema = defineBook({ ...SCHEMAS, usageMeters: [{ ...meter, schema: "api_cal", count: true }] });
  expectProblem(schema, 'got "api_cal": did you mean "api_call"?');
  // @ts-expect-error -- "teem" is not a plan of the book
  const plan = defineBook({ pricePlans: [TEAM], accounts: [{ ...CONTOSO, plan: "teem" }] });
  expectProblem(plan, 'got "teem": did you mean "team"?');
  const plans = { pricePlans: [{ ...TEAM, licenses: [{ id: "seats", rate: 12 }] }] } as const;
  // @ts-expect-error -- "seat" is not a license of the book
  const license = defineBook({ ...plans, accounts: [{ ...CONTOSO, plan: "team", licenses: { seat: 5 } }] });
  expectProblem(license, 'got "seat": did you mean "seats"?');
});

test("a misspelt dimension in groupBy is a type error; a computed one is known", () => {
  const dimensions = ["model", { name: "kind" }] as const;
  const schema = { ...SCHEMA, dimensions, computedDimensions: { tier: { var: "dimension.model" } } } as const;
  const meter = { id: "calls", schema: "api_call", count: true } as const;
  const rateTable = { rows: [{ when: { model: "large", tier: "a" }, rate: 1 }] };
  const book = defineBook({
    eventSchemas: [schema],
    usageMeters: [{ ...meter, groupBy: ["model", "kind", "tier"] }],
    pricePlans: [{ ...TEAM, usage: [{ meter: "calls", rateTable }] }],
  });
  expect(readBook(book).usageMeters[0]?.groupBy).toEqual(["model", "kind", "tier"]);
  // @ts-expect-error -- "modle" is not a dimension of the schema
  const typo = defineBook({ eventSchemas: [schema], usageMeters: [{ ...meter, groupBy: ["modle"] }] });
  expectProblem(typo, 'got "modle": did you mean "model"?');
});

test("a misspelt field that a meter measures, or groups by, is a type error, also without computed fields", () => {
  const schemas = { eventSchemas: [{ name: "sample", attributes: ["value"], dimensions: ["user"] }] } as const;
  const book = defineBook({
    ...schemas,
    usageMeters: [
      { id: "peak", schema: "sample", max: "value", daily: true },
      { id: "users", schema: "sample", unique: "user" },
      { id: "disk", schema: "sample", level: { "*": [{ var: "attribute.value" }, 2] } },
    ],
  });
  const aggregations = readBook(book).usageMeters.map(({ aggregation }) => aggregation);
  expect(aggregations).toEqual(["MAX", "UNIQUE_COUNT", "TIME_WEIGHTED"]);
  const meter = { id: "m", schema: "sample" } as const;
  // @ts-expect-error -- "valeu" is not an attribute of the schema
  const attribute = defineBook({ ...schemas, usageMeters: [{ ...meter, max: "valeu" }] });
  expectProblem(attribute, '$.usageMeters[0].max: the event schema has no "attribute.valeu"');
  // @ts-expect-error -- "value" is not a dimension of the schema
  const dimension = defineBook({ ...schemas, usageMeters: [{ ...meter, unique: "value" }] });
  expectProblem(dimension, 'did you mean "attribute.value"?');
  // @ts-expect-error -- "usr" is not a dimension of the schema
  const group = defineBook({ ...schemas, usageMeters: [{ ...meter, sum: "value", groupBy: ["usr"] }] });
  expectProblem(group, 'got "usr": did you mean "user"?');
});

test("names that the compiler does not know are accepted", () => {
  const [meter, plan, seats]: string[] = ["um.calls", "team", "seats"];
  const book = defineBook({
    ...SCHEMAS,
    usageMeters: [{ id: String(meter), name: "API calls", schema: "api_call", sum: "calls" }],
    pricePlans: [
      {
        ...TEAM,
        id: String(plan),
        usage: [{ meter: "um.calls", rate: 1 }],
        licenses: [{ id: String(seats), rate: 12 }],
      },
    ],
    accounts: [{ ...CONTOSO, plan: "team", licenses: { seats: 5 } }],
  });
  expect(readBook(book).accounts[0]?.licenseUpdates[0]?.licenseId).toBe("seats");
});

test("wrong fields and values are type errors", () => {
  // @ts-expect-error -- "DAILY" is not an interval
  expectProblem(defineBook({ pricePlans: [{ ...TEAM, cycle: "DAILY" }] }), 'got "DAILY"');
  // @ts-expect-error -- a misspelt field
  expectProblem(defineBook({ pricePlans: [{ ...TEAM, fee: [] }] }), 'did you mean "fees"?');
  // @ts-expect-error -- a long field that has a short name
  const long = defineBook({ pricePlans: [{ ...TEAM, fees: [{ id: "a", rate: 1, invoiceTiming: "IN_ADVANCE" }] }] });
  expectProblem(long, 'did you mean "timing"?');
  // @ts-expect-error -- both forms of a plan
  expectProblem(defineBook({ pricePlans: [{ ...TEAM, pricePlanDetails: {} }] }), "got both");
});
