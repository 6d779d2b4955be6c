/** Type errors of a book while it is written. The compiler checks each expected error. */
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
