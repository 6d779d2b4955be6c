import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { parseBook } from "../../../src/book/book.ts";
import type { Invoice } from "../../../src/invoicing/invoice.ts";
import { preview } from "../../../src/ledger/preview/preview.ts";
import { subtract, sum, textOf } from "../../../src/numbers/decimal.ts";
import { compareFractions, sumFractions, textOfFraction, whole } from "../../../src/numbers/fraction.ts";
import { type AccountDiff, diffInvoices, type DiffLine } from "../../../src/proof/diff/diff-invoices.ts";
import { fee, plan, slabs, sumMeter } from "../../book/builder.ts";
import { cards, hundredths, pricingModels, type RandomCard } from "../../rating/arbitraries.ts";
import { pricedBy } from "../../rating/cards.ts";

const bookOf = (details: object, account: object = {}) =>
  parseBook({
    organization: { id: "acme" },
    eventSchemas: [{ name: "call", attributes: [{ name: "units" }] }],
    usageMeters: [sumMeter("um.units", "call", "units")],
    addOns: [{ id: "addon.fee", name: "Platform", type: "FIXED_FEE" }],
    pricePlans: [plan("pp", details)],
    customers: [{ id: "contoso", name: "Contoso" }],
    accounts: [
      {
        id: "prod",
        name: "Production",
        customerId: "contoso",
        pricePlans: [{ pricePlanId: "pp", effectiveFrom: "2026-06-01" }],
        ...account,
      },
    ],
  });
const usage = (priced: object): object => ({ usageRateCards: [{ usageMeterId: "um.units", ...priced }] });
type Made = readonly [ReturnType<typeof bookOf>, readonly Invoice[]];
const made = (book: ReturnType<typeof bookOf>, units: number | string): Made => {
  const event = {
    schemaName: "call",
    id: "e",
    timestamp: "2026-06-20T12:00:00Z",
    accountId: "prod",
    attributes: [{ name: "units", value: units }],
  };
  return [book, preview(book, [event], { explain: true, from: "2026-06-01", until: "2026-07-01" }).invoices];
};
const diffed = ([a, before]: Made, [b, after]: Made): AccountDiff => {
  const [account] = diffInvoices(before, after, { books: [a, b] }).accounts;
  if (account === undefined) throw new Error("no account");
  return account;
};
const causesOf = ({ causes }: Pick<DiffLine, "causes">): object =>
  Object.fromEntries(Object.entries(causes).map(([cause, amount]) => [cause, textOfFraction(amount)]));
const linesOf = ({ lines }: AccountDiff): readonly object[] =>
  lines.map((line) => ({ type: line.type, difference: textOf(line.difference), ...causesOf(line) }));

const CARD = "USAGE_RATE_CARD_AMOUNT";
const bands = slabs("TIERED", [0, 2], [100, 1]);

describe("S13.6 what changed an invoice", () => {
  test("more usage: 90 units at 2, then 100 at 2 and 20 at 1", () => {
    const book = bookOf(usage(bands));
    expect(linesOf(diffed(made(book, 90), made(book, 120)))).toEqual([{ type: CARD, difference: "40", usage: "40" }]);
  });

  test("more usage at other rates: first the usage at the old rates, then the rates", () => {
    // 90 × 2 = 180; 120 units: 200 + 20 = 220; at 3 and 1: 300 + 20 = 320.
    const after = made(bookOf(usage(slabs("TIERED", [0, 3], [100, 1]))), 120);
    expect(linesOf(diffed(made(bookOf(usage(bands)), 90), after))).toEqual([
      { type: CARD, difference: "140", usage: "40", rates: "100" },
    ]);
  });

  test("a maximum that came: 220 without, 150 with", () => {
    const bounded = {
      ...bands,
      rateValues: bands.rateValues.map((rates) => ({ ...rates, rateConfig: { maximumRate: 150 } })),
    };
    expect(linesOf(diffed(made(bookOf(usage(bands)), 120), made(bookOf(usage(bounded)), 120)))).toEqual([
      { type: CARD, difference: "-70", bounds: "-70" },
    ]);
  });

  test("S1.5 rounding is what is left: 1 × 0.333 is 0.33, 2 × 0.333 is 0.67", () => {
    const book = bookOf(usage(slabs("TIERED", [0, "0.333"])));
    expect(linesOf(diffed(made(book, 1), made(book, 2)))).toEqual([
      { type: CARD, difference: "0.34", usage: "0.333", rounding: "0.007" },
    ]);
  });

  test("S13.3 a commitment takes up what usage loses", () => {
    // 90 × 2 = 180 and 20 to 200; 50 × 2 = 100 and 100 to 200.
    const book = bookOf({ ...usage(bands), minimumCommitment: { rateValues: [{ currency: "USD", rate: 200 }] } });
    expect(linesOf(diffed(made(book, 90), made(book, 50)))).toEqual([
      { type: CARD, difference: "-80", usage: "-80" },
      { type: "TRUE_UP_AMOUNT", difference: "80", usage: "80" },
    ]);
  });

  test("S12.3 a credit that was not there", () => {
    const credit = { credits: [{ id: "c", purpose: "hello", creditAmount: 25, effectiveFrom: "2026-06-01" }] };
    const account = diffed(made(bookOf(usage(bands)), 90), made(bookOf(usage(bands), credit), 90));
    expect(linesOf(account)).toEqual([
      { type: "SUB_CREDITS", difference: "-25", credits: "-25" },
      { type: CARD, difference: "0" },
    ]);
    expect(causesOf(account.total)).toEqual({ credits: "-25" });
  });

  test("S8.1 fewer days: a fee of 30 for 15 of 30 days", () => {
    const details = { ...usage(bands), ...fee(30, { enableProration: true }) };
    const before = made(bookOf(details), 0);
    // The cut cycle is another one: all of a fee in it is days, and so is all of it in the whole one.
    const half = { pricePlans: [{ pricePlanId: "pp", effectiveFrom: "2026-06-16" }] };
    expect(linesOf(diffed(before, made(bookOf(details, half), 0)))).toEqual([
      { type: "FIXED_FEE_RATE_CARD_AMOUNT", difference: "-15", days: "-15" },
    ]);
  });

  test("a slab that no explanation shows is asked for", () => {
    const [before, after] = [made(bookOf(usage(bands)), 90), made(bookOf(usage(slabs("TIERED", [0, 3]))), 120)];
    expect(() => diffInvoices(before[1], after[1])).toThrow(
      "120 units are in a slab that the explanations do not show",
    );
  });

  test("invoices without explanations are refused", () => {
    const book = bookOf(usage(bands));
    const { invoices } = preview(book, [], { from: "2026-06-01", until: "2026-07-01" });
    const [, explained] = made(book, 1);
    const plain = explained.map((invoice) => ({ ...invoice, revenueInfo: strip(invoice.revenueInfo) }));
    expect(invoices).toEqual([]);
    expect(() => diffInvoices(plain, explained)).toThrow(`${CARD} um.units: the line has no explanation`);
  });

  const small = cards(
    fc.integer({ min: 1, max: 5001 }).map((units) => (units / 100).toFixed(2)),
    hundredths(2000),
  );
  const detailsOf = ({ rows: drawn, bounds }: RandomCard, model: "TIERED" | "VOLUME", rate: number): object => {
    const rows = drawn.map((row, index) => (index === 0 ? row : { ...row, chargeAtZero: false }));
    const commitment = { minimumCommitment: { rateValues: [{ currency: "USD", rate: 500 }] } };
    return { ...usage(pricedBy(model, rows, bounds)), ...fee(rate, { enableProration: true }), ...commitment };
  };

  test("causes add up to lines, and lines to the invoices, for any two", () => {
    const side = fc.record({
      card: small,
      model: pricingModels,
      rate: fc.integer({ min: 0, max: 99 }),
      units: hundredths(20_000),
      credit: fc.integer({ min: 0, max: 300 }),
      day: fc.constantFrom("2026-06-01", "2026-06-16"),
    });
    fc.assert(
      fc.property(side, side, (a, b) => {
        const [before, after] = [a, b].map(({ card, model, rate, units, credit, day }) =>
          made(
            bookOf(detailsOf(card, model, rate), {
              pricePlans: [{ pricePlanId: "pp", effectiveFrom: day }],
              credits: [{ id: "c", purpose: "hello", creditAmount: credit, effectiveFrom: "2026-06-01" }],
            }),
            units,
          ),
        );
        if (before === undefined || after === undefined) throw new Error("two sides");
        const { lines, total } = diffed(before, after);
        for (const { causes, difference } of [...lines, total]) {
          expect(compareFractions(sumFractions(Object.values(causes)), whole(difference))).toBe(0);
        }
        const totalOf = ([, invoices]: Made) => sum(invoices.map(({ revenueInfo }) => revenueInfo.value));
        expect(textOf(total.difference)).toBe(textOf(subtract(totalOf(after), totalOf(before))));
        expect(textOf(sum(lines.map(({ difference }) => difference)))).toBe(textOf(total.difference));
      }),
      { numRuns: 100 },
    );
  });

  test("where usage alone differs, no line changes by rates, bounds or days", () => {
    fc.assert(
      fc.property(small, pricingModels, hundredths(20_000), hundredths(20_000), (card, model, one, other) => {
        const book = bookOf(detailsOf(card, model, 10));
        for (const { causes } of diffed(made(book, one), made(book, other)).lines) {
          expect(Object.keys(causes).filter((cause) => cause !== "usage" && cause !== "rounding")).toEqual([]);
        }
      }),
      { numRuns: 100 },
    );
  });
});

/** The line and those below it, without explanations. */
function strip({ lineItems, type, id, value }: Invoice["revenueInfo"]): Invoice["revenueInfo"] {
  return { type, value, ...(id !== undefined && { id }), ...(lineItems && { lineItems: lineItems.map(strip) }) };
}
