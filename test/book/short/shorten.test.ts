/** What the long form becomes in the short form, and what stays long (book.md). */
import { describe, expect, test } from "vitest";

import { toBookInput } from "../../../src/book/book.ts";
import { shortenBook } from "../../../src/book/short/book-forms.ts";
import type { ShortBookInput } from "../../../src/index.ts";

const shorten = (book: object): Record<string, readonly Record<string, unknown>[]> =>
  shortenBook(book as Parameters<typeof shortenBook>[0]) as never;

/** Every short form, as a person writes it. */
const SHORT: ShortBookInput = {
  organization: { id: "acme" },
  eventSchemas: [
    {
      name: "api_call",
      attributes: ["calls", { name: "size", unit: "GB" }],
      dimensions: ["region", "status"],
      computed: { total: { "+": [{ var: "attribute.calls" }, { var: "attribute.size" }] } },
      computedDimensions: { kind: { if: [{ "==": [{ var: "dimension.region" }, "eu"] }, "near", "far"] } },
    },
  ],
  usageMeters: [
    { id: "um.calls", name: "API calls", schema: "api_call", sum: "calls", where: { region: ["eu", "us"] } },
    { id: "um.ok", name: "ok", schema: "api_call", count: true, where: { status: { not: "failed" }, kind: "near" } },
    { id: "um.far", name: "far", schema: "api_call", count: true, where: { region: { not: ["eu", "us"] } } },
    { id: "um_all", schema: "api_call", sum: { "*": [{ var: "attribute.calls" }, 2] } },
  ],
  pricePlans: [
    {
      id: "team",
      name: "Team",
      cycle: "MONTHLY",
      usage: [
        { meter: "um.calls", tiers: [{ upTo: 1000, rate: 0 }, { rate: "0.002" }] },
        { meter: "um.ok", rate: "2.5", per: 1000000 },
        {
          meter: "um.far",
          volumeTiers: [
            { upTo: 10, rate: 2, flat: 5 },
            { flat: 20, minimum: 1 },
          ],
          maximum: 99,
        },
        { meter: "um_all", package: 100, tiers: [{ upTo: 1000, rate: 3 }, { rate: 2 }] },
      ],
      fees: [
        { id: "platform", name: "Platform fee", rate: 49, timing: "IN_ADVANCE" },
        { id: "setup", rate: 500, once: true, afterCycles: 1 },
      ],
      licenses: [{ id: "seats", name: "Seats", rate: 12, prorate: true, max: 50, refund: true }],
      entitlements: [{ feature: "gb", quantity: 10, for: "P1M", flat: 80, everyCycles: 2 }],
      credits: [{ id: "promo", amount: 10, flat: 5, for: "P1M", priority: 2 }],
      overages: [{ feature: "gb", rate: "0.01", max: 100 }],
      commitment: 100,
    },
    {
      id: "yearly",
      status: "DRAFT",
      currencies: ["USD", "EUR"],
      cycle: { interval: "ANNUALLY", day: 15, month: 4, gracePeriod: 3 },
      fees: [{ id: "platform", rate: { USD: 490, EUR: 450 } }],
    },
    { id: "own", cycle: { interval: "MONTHLY", anniversary: true } },
  ],
  accounts: [
    {
      id: "contoso",
      plan: "team",
      from: "2026-01-01",
      licenses: { seats: 5 },
      credits: [{ purpose: "hi", amount: 5 }],
    },
    {
      id: "globex",
      name: "Globex Inc.",
      plans: [
        { plan: "own", from: "2026-01-01", until: "2026-02-01" },
        { plan: "team", from: "2026-02-01", override: { cycle: "WEEKLY", fees: [{ id: "platform", rate: 40 }] } },
      ],
      licenses: {
        seats: [
          { from: "2026-02-01", quantity: 1 },
          { from: "2026-03-01", quantity: 2 },
        ],
      },
    },
  ],
};

test("a book that a person wrote is the same after it was long", () => {
  expect(shorten(toBookInput(SHORT))).toEqual(SHORT);
  expect(shorten(SHORT)).toEqual(SHORT);
});

/** The long form of the book, changed. */
function change(edit: (book: never) => void): object {
  const book = structuredClone(toBookInput(SHORT));
  edit(book as never);
  return book;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- each case changes the book in its own way
type AnyBook = any;

describe("what the short form cannot say stays long", () => {
  test("rates of a tier that ends", () => {
    const short = shorten(
      change((book: AnyBook) => {
        book.pricePlans[0].pricePlanDetails.usageRateCards[1].rateValues.push({
          currency: "EUR",
          slabRates: [{ order: 1, rate: 1 }],
        });
      }),
    );
    const [, card] = (short["pricePlans"]?.[0]?.["usage"] ?? []) as object[];
    expect(Object.keys(card ?? {})).toEqual(["meter", "ratePlan", "rateValues"]);
  });

  test("a meter of two computations", () => {
    const short = shorten(
      change((book: AnyBook) => book.usageMeters[0].computations.push({ order: 2, computation: 1, matcher: false })),
    );
    expect(Object.keys(short["usageMeters"]?.[0] ?? {})).toEqual([
      "id",
      "name",
      "schema",
      "aggregation",
      "computations",
    ]);
  });

  test("an enrichment with a dependency", () => {
    const short = shorten(
      change((book: AnyBook) => (book.eventSchemas[0].enrichments.dependencies = [{ key: "x", name: "x" }])),
    );
    expect(short["eventSchemas"]?.[0]).toMatchObject({ dimensions: ["region", "status"], enrichments: {} });
  });

  test("an add-on with more than a name, and those before it", () => {
    const short = shorten(change((book: AnyBook) => (book.addOns[1].billableName = "Set-up")));
    expect(short["addOns"]?.map(({ id }) => id)).toEqual(["platform", "setup"]);
    expect(short["pricePlans"]?.[0]?.["licenses"]).toEqual(
      SHORT.pricePlans?.[0] && (SHORT as AnyBook).pricePlans[0].licenses,
    );
  });

  test("a customer with an address", () => {
    const short = shorten(change((book: AnyBook) => (book.customers[1].primaryEmail = "a@globex.example")));
    expect(short["customers"]?.map(({ id }) => id)).toEqual(["contoso", "globex"]);
  });
});

test("a meter without a name, and a card without one whose add-on is listed with a name", () => {
  const schema = { name: "call" };
  const meter = { id: "calls", schema: "call", count: true };
  const plan = { id: "team", cycle: "MONTHLY", fees: [{ id: "fee", name: null, rate: 1 }] };
  const addOns = [{ id: "fee", name: "Platform", type: "FIXED_FEE" }];
  const short = shorten({ eventSchemas: [schema], usageMeters: [meter], addOns, pricePlans: [plan] });
  expect(JSON.stringify(short)).toBe(
    JSON.stringify({
      eventSchemas: [schema],
      usageMeters: [meter],
      pricePlans: [{ ...plan, fees: [{ id: "fee", name: "Platform", rate: 1 }] }],
    }),
  );
});

test("long cards in a short plan become short", () => {
  const book = change((long: AnyBook) => {
    const { rateValues } = long.pricePlans[1].pricePlanDetails.fixedFeeRateCards[0];
    long.pricePlans[1] = { ...(SHORT as AnyBook).pricePlans[1], fees: [{ id: "platform", rateValues }] };
  });
  expect(shorten(book)["pricePlans"]).toEqual(SHORT.pricePlans);
});
