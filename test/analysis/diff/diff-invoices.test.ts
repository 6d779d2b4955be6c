import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { diffInvoices } from "../../../src/analysis/diff/diff-invoices.ts";
import { toBookInput } from "../../../src/book/book.ts";
import { type Invoice, netTotal } from "../../../src/invoicing/invoice.ts";
import { preview } from "../../../src/ledger/preview/preview.ts";
import type { EventInput } from "../../../src/metering/event-envelope.ts";
import { subtract, sum, formatDecimal } from "../../../src/numbers/decimal.ts";
import {
  compareFractions,
  ZERO_FRACTION,
  sumFractions,
  formatFraction,
  toFraction,
} from "../../../src/numbers/fraction.ts";
import {
  hundredthsArbitrary,
  pricingModelArbitrary,
  type SlabCard,
  slabCardArbitrary,
} from "../../../src/testing/price-arbitrary.ts";
import { feeCards, slabs } from "../../book/builder.ts";
import { catalogBook as goldenBook } from "../../book/catalog-book.ts";
import { createSlabPricing } from "../../rating/cards.ts";
import { goldenCases } from "../../support/golden.ts";
import { runs } from "../../support/runs.ts";
import {
  bands,
  CARD,
  causesOf,
  changesOf,
  changesWithoutBooks,
  commitmentOf200,
  diffAccount,
  diffBook,
  inBands,
  type PreviewedBook,
  previewSide,
  previewUnits,
  type Side,
  usageCards,
} from "./example-books.ts";

/** A card whose price has a maximum. */
const bounded = usageCards({
  ...bands,
  rateValues: bands.rateValues.map((rates) => ({ ...rates, rateConfig: { maximumRate: 150 } })),
});
const inDearBands = usageCards(slabs("TIERED", [0, 3], [100, 1]));
const inThirds = usageCards(slabs("TIERED", [0, "0.333"]));
const committed = { ...inBands, ...commitmentOf200 };
const proratedFee = { ...inBands, ...feeCards(30, { enableProration: true }) };
const feeInAdvance = (rate: number) => feeCards(rate, { invoiceTiming: "IN_ADVANCE" });
const credit = { credits: [{ id: "c", purpose: "hello", creditAmount: 25, effectiveFrom: "2026-06-01" }] };
const half = { pricePlans: [{ pricePlanId: "pp", effectiveFrom: "2026-06-16" }] };
/** An account whose own card has other rates. */
const overriding = {
  pricePlans: [
    {
      pricePlanId: "pp",
      effectiveFrom: "2026-06-01",
      pricePlanDetailsOverride: usageCards(slabs("TIERED", [0, 3], [100, 2])),
    },
  ],
};
const FEE = "FIXED_FEE_RATE_CARD_AMOUNT";

describe("S13.6 the causes of a changed invoice", () => {
  test.each<[title: string, before: Side, after: Side, ...changes: string[]]>([
    ["more usage: 90 units at 2, then 100 at 2 and 20 at 1", [inBands, 90], [inBands, 120], `${CARD} 40: usage 40`],
    // 90 × 2 = 180; 120 units: 200 + 20 = 220; at 3 and 1: 300 + 20 = 320.
    [
      "more usage at other rates: first the usage at the old rates, then the rates",
      [inBands, 90],
      [inDearBands, 120],
      `${CARD} 140: usage 40, rates 100`,
    ],
    ["an added maximum: 220 without it, 150 with it", [inBands, 120], [bounded, 120], `${CARD} -70: bounds -70`],
    [
      "S1.5 rounding explains the rest of a difference: 1 × 0.333 is 0.33, 2 × 0.333 is 0.67",
      [inThirds, 1],
      [inThirds, 2],
      `${CARD} 0.34: usage 0.333, rounding 0.007`,
    ],
    // 90 × 2 = 180 and 20 to 200; 50 × 2 = 100 and 100 to 200.
    [
      "S13.3 a commitment offsets lower usage",
      [committed, 90],
      [committed, 50],
      `${CARD} -80: usage -80`,
      "TRUE_UP_AMOUNT 80: usage 80",
    ],
    ["S12.3 an added credit", [inBands, 90], [inBands, 90, credit], "SUB_CREDITS -25: credits -25", `${CARD} 0: none`],
    // The cut cycle is a different cycle: the whole fee in it is a change of days, and so is the whole fee of the uncut
    // one.
    [
      "S8.1 fewer days: a fee of 30 for 15 of 30 days",
      [proratedFee, 0],
      [proratedFee, 0, half],
      `${FEE} -15: days -15`,
    ],
    [
      "S9.3 a fee in advance is compared like any other line: 30, then 45",
      [feeInAdvance(30), 0],
      [feeInAdvance(45), 0],
      "ADVANCED_FIXED_FEE 15: rates 15",
    ],
    // 90 × 3 = 270; 120 units: 300 + 20 × 2 = 340.
    [
      "S16.2 with an override, the slab of the account's own card is used",
      [inBands, 90, overriding],
      [inBands, 120, overriding],
      `${CARD} 70: usage 70`,
    ],
  ])("%s", (_, before, after, ...changes) => {
    expect(changesOf(previewSide(before), previewSide(after))).toEqual(changes);
  });

  test("the total has the causes of all lines", () => {
    const account = diffAccount(previewSide([inBands, 90]), previewSide([inBands, 90, credit]));
    expect(causesOf(account.total)).toEqual({ credits: "-25" });
  });

  test.each<[title: string, before: object, after: object, ...changes: string[]]>([
    [
      "S13.3 a commitment added by an edit of the plan: 90 × 2 = 180, and a true-up of 20 to 200",
      inBands,
      committed,
      `${CARD} 0: none`,
      "TRUE_UP_AMOUNT 20: commitment 20",
    ],
    ["S13.3 and removed", committed, inBands, `${CARD} 0: none`, "TRUE_UP_AMOUNT -20: commitment -20"],
    [
      "S13.3 a commitment reached only with a fee in advance: 180 and 60, then 180 and a true-up of 20 to 200",
      { ...committed, ...feeInAdvance(60) },
      committed,
      `${CARD} 0: none`,
      "TRUE_UP_AMOUNT 20: rates 20",
      "ADVANCED_FIXED_FEE -60: rates -60",
    ],
    [
      "a card added by an edit of the plan is a change of rates if 90 units were used before too",
      feeCards(30),
      { ...feeCards(30), ...inBands },
      `${CARD} 180: rates 180`,
      `${FEE} 0: none`,
    ],
    ["and removed", { ...feeCards(30), ...inBands }, feeCards(30), `${CARD} -180: rates -180`, `${FEE} 0: none`],
  ])("without the books: %s", (_, before, after, ...changes) => {
    const actual = changesWithoutBooks(previewSide([before, 90]), previewSide([after, 90]));
    expect(actual.toSorted()).toEqual(changes.toSorted());
  });

  test("without the books, in any form, rates are applied before usage if an explanation lacks the slab", () => {
    // 90 × 2 = 180; at 3: 270, then 120 × 3 = 360. With the books: 120 units at the old rates are 220.
    const [before, after] = [previewSide([inBands, 90]), previewSide([usageCards(slabs("TIERED", [0, 3])), 120])];
    expect(changesWithoutBooks(before, after)).toEqual([`${CARD} 180: usage 90, rates 90`]);
    expect(changesOf(before, after)).toEqual([`${CARD} 180: usage 40, rates 140`]);
    const written = [toBookInput(before[0]), toBookInput(after[0])] as const;
    for (const books of [written, [JSON.stringify(written[0]), JSON.stringify(written[1])]] as const)
      expect(diffInvoices(before[1], after[1], { books }).accounts).toEqual([diffAccount(before, after)]);
  });

  test("S10.3 slabs are listed in the order of a VOLUME card that goes from 0 to 30 seats, whatever the order of their prices", () => {
    const seats = slabs("VOLUME", [0, 1], [10, 2]);
    const [first, second] = seats.ratePlan.slabs;
    const ratePlan = { ...seats.ratePlan, slabs: [{ ...first, slabConfig: { chargeAtZero: true } }, second] };
    const card = { id: "addon.seats", ...seats, ratePlan, invoiceTiming: "IN_ADVANCE" };
    const own = {
      pricePlans: [{ pricePlanId: "pp", effectiveFrom: "2026-06-01" }],
      licenseUpdates: [{ licenseId: "addon.seats", quantity: 30, effectiveFrom: "2026-06-11", updateType: "ABSOLUTE" }],
    };
    const one = previewSide([{ licenseRateCards: [card] }, 0, own]);
    expect(changesOf(one, one)).toEqual(["ADVANCED_LICENSE_RATE_CARD_AMOUNT 0: none"]);
  });

  test("rejects invoices without explanations", () => {
    const [, afterInvoices] = previewSide([inBands, 1]);
    const plain = afterInvoices.map((invoice) => ({ ...invoice, revenueInfo: strip(invoice.revenueInfo) }));
    expect(() => diffInvoices(plain, afterInvoices)).toThrow(`${CARD} um.units: the line has no explanation`);
  });

  const small = slabCardArbitrary(
    fc.integer({ min: 1, max: 5001 }).map((units) => (units / 100).toFixed(2)),
    hundredthsArbitrary(2000),
  );
  const slabDetails = ({ rows: slabRows, bounds }: SlabCard, model: "TIERED" | "VOLUME", rate: number): object => {
    const rows = slabRows.map((row, index) => (index === 0 ? row : { ...row, chargeAtZero: false }));
    const commitment = { minimumCommitment: { rateValues: [{ currency: "USD", rate: 500 }] } };
    return {
      ...usageCards(createSlabPricing(model, rows, bounds)),
      ...feeCards(rate, { enableProration: true }),
      ...commitment,
    };
  };

  test("causes add up to lines, and lines to invoices, for any two invoices", () => {
    const side = fc.record({
      card: small,
      model: pricingModelArbitrary(),
      rate: fc.integer({ min: 0, max: 99 }),
      units: hundredthsArbitrary(20_000),
      credit: fc.integer({ min: 0, max: 300 }),
      day: fc.constantFrom("2026-06-01", "2026-06-16"),
    });
    fc.assert(
      fc.property(side, side, (a, b) => {
        const [before, after] = [a, b].map(({ card, model, rate, units, credit, day }) =>
          previewUnits(
            diffBook(slabDetails(card, model, rate), {
              pricePlans: [{ pricePlanId: "pp", effectiveFrom: day }],
              credits: [{ id: "c", purpose: "hello", creditAmount: credit, effectiveFrom: "2026-06-01" }],
            }),
            units,
          ),
        );
        if (before === undefined || after === undefined) throw new Error("two sides");
        const { lines, total } = diffAccount(before, after);
        for (const { causes, difference } of [...lines, total]) {
          expect(compareFractions(sumFractions(Object.values(causes)), toFraction(difference))).toBe(0);
        }
        // At most two invoices a side, one card and one fee: each is off by at most half a cent, and a true-up with
        // them (S1.5).
        for (const { causes } of lines) {
          expect(Math.abs(Number(formatFraction(causes.rounding ?? ZERO_FRACTION)))).toBeLessThanOrEqual(0.06);
        }
        const sumInvoices = ([, invoices]: PreviewedBook) => sum(invoices.map(({ revenueInfo }) => revenueInfo.value));
        expect(formatDecimal(total.difference)).toBe(formatDecimal(subtract(sumInvoices(after), sumInvoices(before))));
        expect(formatDecimal(sum(lines.map(({ difference }) => difference)))).toBe(formatDecimal(total.difference));
      }),
      { numRuns: runs(100) },
    );
  });

  const goldenPreviews = goldenCases().map((golden): PreviewedBook => {
    const book = goldenBook(golden.book);
    return [book, preview(book, golden.events as EventInput[], { ...golden.options, explain: true }).invoices];
  });

  test("causes add up to lines, and lines to invoices, for any two golden cases, including increases, refunds and credits", () => {
    const inDollars = goldenPreviews.filter(([, invoices]) => invoices.every(({ currency }) => currency === "USD"));
    const one = fc.constantFrom(...inDollars);
    fc.assert(
      fc.property(one, one, (before, after) => {
        const { accounts } = diffInvoices(before[1], after[1], { books: [before[0], after[0]] });
        for (const { accountId, lines, total } of accounts) {
          for (const { causes, difference } of [...lines, total]) {
            expect(compareFractions(sumFractions(Object.values(causes)), toFraction(difference))).toBe(0);
          }
          const sumInvoices = ([, invoices]: PreviewedBook) =>
            netTotal(invoices.filter((each) => each.accountId === accountId));
          expect(formatDecimal(total.difference)).toBe(
            formatDecimal(subtract(sumInvoices(after), sumInvoices(before))),
          );
          expect(formatDecimal(sum(lines.map(({ difference }) => difference)))).toBe(formatDecimal(total.difference));
        }
      }),
      { numRuns: runs(600) },
    );
  });

  test("the difference between a draft and its final invoice is what was used in between", () => {
    const book = diffBook({ ...usageCards(bands), ...feeCards(30) });
    const [draft, final] = [previewUnits(book, 90), previewUnits(book, 120)];
    const finals = final[1].map((invoice): Invoice => ({ ...invoice, status: "DUE" }));
    expect(changesOf(draft, [book, finals])).toEqual([`${CARD} 40: usage 40`, `${FEE} 0: none`]);
  });

  test("rejects an invoice of another version, and one whose lines don't add up to its total", () => {
    const made1 = previewUnits(diffBook(usageCards(bands)), 90)[1];
    const changeLines = (from: RegExp, to: string): readonly Invoice[] =>
      made1.map((invoice) => ({ ...invoice, revenueInfo: changedLine(invoice.revenueInfo, from, to) }));
    expect(() => diffInvoices(made1, changeLines(/^USAGE_RATE_CARD_AMOUNT$/, "USAGE_LINE"))).toThrow(
      "unknown invoice line type USAGE_LINE; run preview again with this version",
    );
    const [first] = made1;
    if (first === undefined) throw new Error("an invoice");
    const wrong = { ...first, revenueInfo: { ...first.revenueInfo, value: sum([]) } };
    expect(() => diffInvoices(first, wrong)).toThrow(
      "prod: the lines of its invoices add up to 180, but their totals to 0",
    );
  });

  test("if only usage differs, no line changes by rates, bounds or days", () => {
    fc.assert(
      fc.property(
        small,
        pricingModelArbitrary(),
        hundredthsArbitrary(20_000),
        hundredthsArbitrary(20_000),
        (card, model, one, other) => {
          const book = diffBook(slabDetails(card, model, 10));
          for (const { causes } of diffAccount(previewUnits(book, one), previewUnits(book, other)).lines) {
            expect(Object.keys(causes).filter((cause) => cause !== "usage" && cause !== "rounding")).toEqual([]);
          }
        },
      ),
      { numRuns: runs(100) },
    );
  });
});

/** The line and those below it, with another type where one matches. */
function changedLine(line: Invoice["revenueInfo"], from: RegExp, to: string): Invoice["revenueInfo"] {
  const { lineItems, ...face } = line;
  return {
    ...face,
    type: line.type.replace(from, to) as typeof line.type,
    ...(lineItems && { lineItems: lineItems.map((each) => changedLine(each, from, to)) }),
  };
}

/** The line and those below it, without explanations. */
function strip({ lineItems, type, id, value }: Invoice["revenueInfo"]): Invoice["revenueInfo"] {
  return { type, value, ...(id !== undefined && { id }), ...(lineItems && { lineItems: lineItems.map(strip) }) };
}
