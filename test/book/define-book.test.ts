/** Type errors of a book while it is written, in both forms. The compiler checks each expected error. */
import { expect, test } from "vitest";

import { type BookInput, Decimal, defineBook, parseBook, priceQuantity, readBook } from "../../src/index.ts";

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

test("a short book written with defineBook reads like any other", () => {
  const book = defineBook({
    eventSchemas: [SCHEMA],
    usageMeters: [{ id: "um.calls", name: "API calls", schema: "api_call", sum: "calls" }],
    pricePlans: [{ id: "team", cycle: "MONTHLY", usage: [{ meter: "um.calls", rate: "0.002" }] }],
    addOns: [{ id: "kiosks", name: "Kiosks", type: "LICENSE" }],
    accounts: [{ id: "contoso", plan: "team", from: "2026-01-01", licenses: { kiosks: 5 } }],
  });
  expect(readBook(book).pricePlans[0]?.pricePlanDetails.usageRateCards[0]?.usageMeterId).toBe("um.calls");
});

test("a misspelt meter, attribute, schema, plan or license is a type error", () => {
  const meters = [{ id: "um.calls", name: "API calls", schema: "api_call", sum: "calls" }] as const;
  const meterTypo = defineBook({
    eventSchemas: [SCHEMA],
    usageMeters: meters,
    // @ts-expect-error -- "um.cals" is not a meter of the book
    pricePlans: [{ id: "team", cycle: "MONTHLY", usage: [{ meter: "um.cals", rate: "0.002" }] }],
  });
  expect(() => readBook(meterTypo)).toThrow('got "um.cals": did you mean "um.calls"?');
  const unnamed = defineBook({
    eventSchemas: [SCHEMA],
    usageMeters: [{ id: "calls", schema: "api_call", count: true }],
    // @ts-expect-error -- "cals" is not a meter of the book, whose meter has no name
    pricePlans: [{ id: "team", cycle: "MONTHLY", usage: [{ meter: "cals", rate: "0.002" }] }],
  });
  expect(() => readBook(unnamed)).toThrow('got "cals": did you mean "calls"?');
  const attributeTypo = defineBook({
    eventSchemas: [SCHEMA],
    // @ts-expect-error -- "cals" is not an attribute of the schema
    usageMeters: [{ id: "um.calls", name: "API calls", schema: "api_call", sum: "cals" }],
  });
  expect(() => readBook(attributeTypo)).toThrow('$.usageMeters[0].sum: the event schema has no "attribute.cals"');
  const schemaTypo = defineBook({
    eventSchemas: [SCHEMA],
    // @ts-expect-error -- "api_cal" is not a schema of the book
    usageMeters: [{ id: "um.calls", name: "API calls", schema: "api_cal", count: true }],
  });
  expect(() => readBook(schemaTypo)).toThrow('got "api_cal": did you mean "api_call"?');
  const planTypo = defineBook({
    pricePlans: [{ id: "team", cycle: "MONTHLY" }],
    // @ts-expect-error -- "teem" is not a plan of the book
    accounts: [{ id: "contoso", plan: "teem", from: "2026-01-01" }],
  });
  expect(() => readBook(planTypo)).toThrow('got "teem": did you mean "team"?');
  const licenseTypo = defineBook({
    pricePlans: [{ id: "team", cycle: "MONTHLY", licenses: [{ id: "seats", rate: 12 }] }],
    // @ts-expect-error -- "seat" is not a license of the book
    accounts: [{ id: "contoso", plan: "team", from: "2026-01-01", licenses: { seat: 5 } }],
  });
  expect(() => readBook(licenseTypo)).toThrow('got "seat": did you mean "seats"?');
});

test("a misspelt dimension in groupBy is a type error; a computed one is known", () => {
  const schema = {
    ...SCHEMA,
    dimensions: ["model", { name: "kind" }],
    computedDimensions: { tier: { var: "dimension.model" } },
  } as const;
  const meter = { id: "calls", schema: "api_call", count: true } as const;
  const when = { model: "large", tier: "a" };
  const book = defineBook({
    eventSchemas: [schema],
    usageMeters: [{ ...meter, groupBy: ["model", "kind", "tier"] }],
    pricePlans: [
      { id: "team", cycle: "MONTHLY", usage: [{ meter: "calls", rateTable: { rows: [{ when, rate: 1 }] } }] },
    ],
  });
  expect(readBook(book).usageMeters[0]?.groupBy).toEqual(["model", "kind", "tier"]);
  const typo = defineBook({
    eventSchemas: [schema],
    // @ts-expect-error -- "modle" is not a dimension of the schema
    usageMeters: [{ ...meter, groupBy: ["modle"] }],
  });
  expect(() => readBook(typo)).toThrow('got "modle": did you mean "model"?');
});

test("misspelt fields of a schema without computed ones are type errors", () => {
  const schema = { name: "call", attributes: ["tokens"], dimensions: ["model"] } as const;
  const dimensionTypo = defineBook({
    eventSchemas: [schema],
    // @ts-expect-error -- "modle" is not a dimension of the schema
    usageMeters: [{ id: "tokens", schema: "call", sum: "tokens", groupBy: ["modle"] }],
  });
  expect(() => readBook(dimensionTypo)).toThrow('got "modle": did you mean "model"?');
  const attributeTypo = defineBook({
    eventSchemas: [schema],
    // @ts-expect-error -- "tokns" is not an attribute of the schema
    usageMeters: [{ id: "tokens", schema: "call", sum: "tokns" }],
  });
  expect(() => readBook(attributeTypo)).toThrow('the event schema has no "attribute.tokns"');
});

test("a misspelt field that a meter measures is a type error", () => {
  const schema = { name: "sample", attributes: ["value"], dimensions: ["user"] } as const;
  const book = defineBook({
    eventSchemas: [schema],
    usageMeters: [
      { id: "peak", schema: "sample", max: "value", daily: true },
      { id: "users", schema: "sample", unique: "user" },
      { id: "disk", schema: "sample", level: { "*": [{ var: "attribute.value" }, 2] } },
    ],
  });
  expect(readBook(book).usageMeters.map(({ aggregation }) => aggregation)).toEqual([
    "MAX",
    "UNIQUE_COUNT",
    "TIME_WEIGHTED",
  ]);
  const attributeTypo = defineBook({
    eventSchemas: [schema],
    // @ts-expect-error -- "valeu" is not an attribute of the schema
    usageMeters: [{ id: "peak", schema: "sample", max: "valeu" }],
  });
  expect(() => readBook(attributeTypo)).toThrow('$.usageMeters[0].max: the event schema has no "attribute.valeu"');
  const dimensionTypo = defineBook({
    eventSchemas: [schema],
    // @ts-expect-error -- "value" is not a dimension of the schema
    usageMeters: [{ id: "users", schema: "sample", unique: "value" }],
  });
  expect(() => readBook(dimensionTypo)).toThrow('did you mean "attribute.value"?');
});

test("names that the compiler does not know are accepted", () => {
  const [meter, plan, seats]: string[] = ["um.calls", "team", "seats"];
  const book = defineBook({
    eventSchemas: [SCHEMA],
    usageMeters: [{ id: String(meter), name: "API calls", schema: "api_call", sum: "calls" }],
    pricePlans: [
      {
        id: String(plan),
        cycle: "MONTHLY",
        usage: [{ meter: "um.calls", rate: 1 }],
        licenses: [{ id: String(seats), rate: 12 }],
      },
    ],
    accounts: [{ id: "contoso", plan: "team", from: "2026-01-01", licenses: { seats: 5 } }],
  });
  expect(readBook(book).accounts[0]?.licenseUpdates[0]?.licenseId).toBe("seats");
});

test("wrong fields and values are type errors", () => {
  const plan = { id: "team", cycle: "MONTHLY" } as const;
  // @ts-expect-error -- "DAILY" is not an interval
  const interval = defineBook({ pricePlans: [{ ...plan, cycle: "DAILY" }] });
  expect(() => readBook(interval)).toThrow('got "DAILY"');
  // @ts-expect-error -- a misspelt field
  const field = defineBook({ pricePlans: [{ ...plan, fee: [] }] });
  expect(() => readBook(field)).toThrow('did you mean "fees"?');
  const longField = defineBook({
    // @ts-expect-error -- a long field that has a short name
    pricePlans: [{ ...plan, fees: [{ id: "a", rate: 1, invoiceTiming: "IN_ADVANCE" }] }],
  });
  expect(() => readBook(longField)).toThrow('did you mean "timing"?');
  // @ts-expect-error -- both forms of a plan
  const both = defineBook({ pricePlans: [{ ...plan, pricePlanDetails: {} }] });
  expect(() => readBook(both)).toThrow("got both");
});
