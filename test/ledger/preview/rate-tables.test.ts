/** Previews of plans with price tables, with figures by hand (S18). */
import { describe, expect, test } from "vitest";

import { type EventInput, preview, readBook } from "../../../src/index.ts";
import { allLines, type Invoice } from "../../../src/invoicing/invoice.ts";
import { formatDecimal, sum } from "../../../src/numbers/decimal.ts";

/** Four models, three kinds of tokens, a price cut on 15 October, and a free million that all models share. */
const RATE_TABLE = {
  per: 1_000_000,
  allowance: { quantity: 1_000_000 },
  rows: [
    { when: { model: "nova-large", kind: "input" }, rate: "5.00" },
    { when: { model: "nova-large", kind: "input" }, from: "2026-10-15", rate: "3.00" },
    { when: { model: "nova-large", kind: "output" }, rate: "15.00" },
    { when: { model: "nova-code", kind: "input" }, rate: "2.00" },
    { when: { model: "nova-code", kind: "output" }, rate: "8.00" },
    { when: { kind: "cached" }, rate: "0.50" },
    { when: { model: "nova-mini", kind: "cached" }, rate: "0.05" },
    { when: { model: "nova-mini" }, tiers: [{ upTo: 10_000_000, rate: "0.30" }, { rate: "0.20" }] },
  ],
};

interface Changes {
  readonly rateTable?: object;
  readonly plan?: object;
  readonly account?: object;
}

function bookWith({ rateTable = RATE_TABLE, plan = {}, account = {} }: Changes = {}): object {
  return {
    eventSchemas: [
      { name: "call", attributes: [{ name: "tokens" }], dimensions: [{ name: "model" }, { name: "kind" }] },
    ],
    usageMeters: [{ id: "um.tokens", name: "Tokens", schema: "call", sum: "tokens", groupBy: ["model", "kind"] }],
    pricePlans: [{ id: "pp", cycle: "MONTHLY", usage: [{ meter: "um.tokens", rateTable }], ...plan }],
    accounts: [{ id: "acct", plans: [{ plan: "pp", from: "2026-10-01", ...account }] }],
  };
}

type Use = readonly [day: number, group: string, tokens: number];

function toEvents(uses: readonly Use[]): EventInput[] {
  return uses.map(([day, group, tokens], index) => {
    const [model = "", kind = ""] = group.split(" ");
    const date = `2026-10-${String(day).padStart(2, "0")}`;
    return {
      schemaName: "call",
      id: `e${index}`,
      timestamp: `${date}T12:00:00Z`,
      accountId: "acct",
      attributes: { tokens },
      dimensions: { model, kind },
    };
  });
}

function previewOctober(book: object, uses: readonly Use[]): readonly Invoice[] {
  return preview(readBook(book), { events: toEvents(uses) }, { explain: true }).invoices;
}

/** The card, its lines, and the notices. */
function describeInvoice({ revenueInfo, notices }: Invoice): readonly string[] {
  const shown = allLines(revenueInfo).filter(({ type }) => /^(?:USAGE|TRUE_UP|TOTAL|RATE)/.test(type));
  const lines = shown.map(({ type, description = type, quantity, valuePerQuantity, value }) => {
    const figures = [quantity, valuePerQuantity].flatMap((figure) => (figure ? [formatDecimal(figure)] : []));
    return `${description}: ${figures.join(" at ")}${figures.length > 0 ? " = " : ""}${formatDecimal(value)}`;
  });
  return [...lines, ...notices];
}

const USES: readonly Use[] = [
  [3, "nova-large input", 3_000_000],
  [20, "nova-large input", 2_000_000],
  [4, "nova-large output", 400_000],
  [4, "nova-large cached", 1_000_000],
  [5, "nova-mini cached", 2_000_000],
  [6, "nova-mini input", 9_000_000],
  [7, "nova-mini output", 3_000_000],
  [9, "nova-code output", 125_001],
];

describe("S18 a preview of a plan with a price table", () => {
  test("S18.4 S18.5 S18.6 prices a cut on 15 October and a shared million on one invoice", () => {
    const [invoice, ...others] = previewOctober(bookWith(), USES);
    expect(others).toEqual([]);
    // 2 × 5 + 2 × 3 + 0.4 × 15 + 0.125001 × 8 + 1 × 0.5 + 2 × 0.05 + 10 × 0.3 + 2 × 0.2 = 27.000008
    expect(invoice && describeInvoice(invoice)).toEqual([
      "TOTAL_AMOUNT: 27",
      "Tokens: 20525001 = 27",
      "nova-large, input, 2026-10-01 to 2026-10-14: 2000000 at 0.000005 = 10",
      "nova-large, input, 2026-10-15 to 2026-10-31: 2000000 at 0.000003 = 6",
      "nova-large, output: 400000 at 0.000015 = 6",
      "nova-code, output: 125001 at 0.000008 = 1",
      "cached: 1000000 at 0.0000005 = 0.5",
      "nova-mini, cached: 2000000 at 0.00000005 = 0.1",
      "nova-mini: above 0 to 10000000, per unit: 10000000 at 0.0000003 = 3",
      "nova-mini: above 10000000, per unit: 2000000 at 0.0000002 = 0.4",
    ]);
  });

  test("S18.2 names the groups that no row prices; S13.6 explains each line", () => {
    const [invoice] = previewOctober(bookWith(), [...USES, [8, "nova-vision input", 7], [8, "nova-code audio", 2]]);
    expect(invoice?.notices).toEqual([
      "um.tokens: 9 units have no price: the price table has no row for nova-code, audio; nova-vision, input",
    ]);
    expect(invoice?.unpriced?.map(({ group, quantity }) => [group, formatDecimal(quantity)])).toEqual([
      [{ model: "nova-code", kind: "audio" }, "2"],
      [{ model: "nova-vision", kind: "input" }, "7"],
    ]);
    const card = invoice && allLines(invoice.revenueInfo).find(({ type }) => type === "USAGE_RATE_CARD_AMOUNT");
    const explanation = card?.explanation?.of === "CARD" ? card.explanation : undefined;
    const slabs = (explanation?.parts ?? []).flatMap((part) => part.slabs ?? []);
    expect(formatDecimal(sum(slabs.map(({ amount }) => amount)))).toBe("27.000008");
    expect(explanation?.free?.map(({ when, quantity }) => [when, formatDecimal(quantity)])).toEqual([
      [{ model: "nova-large", kind: "input" }, "1000000"],
    ]);
    expect(explanation?.parts[1]?.row).toMatchObject({
      when: { model: "nova-large", kind: "input" },
      groups: [["nova-large", "input"]],
      startDate: "2026-10-15",
      endDate: "2026-11-01",
    });
    expect(explanation?.rules.map((rule) => rule.slice(rule.indexOf("#")))).toEqual([
      "#s18.2",
      "#s18.3",
      "#s18.4",
      "#s18.5",
    ]);
  });

  test("S18.2 one unit without a price is in the singular", () => {
    const [invoice] = previewOctober(bookWith(), [[8, "nova-vision input", 1]]);
    expect(invoice?.notices).toEqual([
      "um.tokens: 1 unit has no price: the price table has no row for nova-vision, input",
    ]);
  });

  test("S18.5 S7.4 S13.3 prorates the allowance and the limits of the card in a partial cycle", () => {
    const rateTable = { rows: [{ rate: 1 }], allowance: { quantity: 31 }, minimum: 62, maximum: 310 };
    const book = bookWith({ rateTable, account: { from: "2026-10-16" }, plan: { commitment: 93 } });
    const describeUse = (tokens: number): readonly string[] => {
      const [invoice] = previewOctober(book, [[20, "a x", tokens]]);
      return invoice === undefined ? [] : describeInvoice(invoice);
    };
    // 16 of 31 days: 16 units free, at least 32, at most 160, a commitment of 48.
    expect(describeUse(20)).toEqual([
      "TOTAL_AMOUNT: 48",
      "Tokens: 20 = 32",
      "other usage: 4 at 1 = 4",
      "adjustment to the minimum or maximum price: 28",
      "Minimum commitment: 16",
    ]);
    expect(describeUse(216).slice(0, 4)).toEqual([
      "TOTAL_AMOUNT: 160",
      "Tokens: 216 = 160",
      "other usage: 200 at 1 = 200",
      "adjustment to the minimum or maximum price: -40",
    ]);
  });

  test("S18.4 tiers start again in each part of a cut cycle", () => {
    const rateTable = { rows: [{ tiers: [{ upTo: 10, rate: 1 }, { rate: "0.5" }] }] };
    const plans = [
      { plan: "pp", from: "2026-10-01" },
      { plan: "pp", from: "2026-10-11" },
    ];
    const invoices = previewOctober({ ...bookWith({ rateTable }), accounts: [{ id: "acct", plans }] }, [
      [5, "a x", 12],
      [15, "a x", 12],
    ]);
    expect(invoices.map(({ revenueInfo }) => formatDecimal(revenueInfo.value))).toEqual(["11", "11"]);
  });

  test("S18.4 S7.5 usage that is given back at a higher price costs 0, with a notice", () => {
    const rateTable = { rows: [{ rate: 1 }, { rate: 2, from: "2026-10-15" }] };
    const [invoice] = previewOctober(bookWith({ rateTable }), [
      [5, "a x", 10],
      [20, "a x", -6],
    ]);
    expect(invoice && describeInvoice(invoice)).toEqual([
      "TOTAL_AMOUNT: 0",
      "Tokens: 4 = 0",
      "um.tokens: the price of other usage is below zero, because units were given back at a higher price; it is 0",
    ]);
  });

  test("S18.7 an account has rows of its own, and a share of the plan's rates", () => {
    const rows = [{ when: { kind: "output" }, rate: "1.00" }];
    const override = { usage: [{ meter: "um.tokens", multiply: "0.8", rows }] };
    const [invoice] = previewOctober(bookWith({ account: { override } }), USES);
    // The free million is of the own row. 2.525001 × 1 + 3 × 4 + 2 × 2.4 + 1 × 0.4 + 2 × 0.04 + 9 × 0.24 = 21.965001
    expect(invoice && describeInvoice(invoice)).toEqual([
      "TOTAL_AMOUNT: 21.97",
      "Tokens: 20525001 = 21.97",
      "output: 2525001 at 0.000001 = 2.53",
      "nova-large, input, 2026-10-01 to 2026-10-14: 3000000 at 0.000004 = 12",
      "nova-large, input, 2026-10-15 to 2026-10-31: 2000000 at 0.0000024 = 4.8",
      "cached: 1000000 at 0.0000004 = 0.4",
      "nova-mini, cached: 2000000 at 0.00000004 = 0.08",
      "nova-mini: above 0 to 10000000, per unit: 9000000 at 0.00000024 = 2.16",
    ]);
  });

  test("S18.7 a factor multiplies the limits of the card too", () => {
    const rateTable = { rows: [{ rate: 1 }], minimum: 10, maximum: 50 };
    const override = { usage: [{ meter: "um.tokens", multiply: "0.8" }] };
    const totals = [1, 20, 100].map((tokens) => {
      const [invoice] = previewOctober(bookWith({ rateTable, account: { override } }), [[3, "a x", tokens]]);
      return invoice && formatDecimal(invoice.revenueInfo.value);
    });
    expect(totals).toEqual(["8", "16", "40"]);
  });

  test("S18.7 an override replaces the table", () => {
    const override = { usage: [{ meter: "um.tokens", rateTable: { rows: [{ rate: "0.000001" }] } }] };
    const [invoice] = previewOctober(bookWith({ account: { override } }), USES);
    expect(invoice && describeInvoice(invoice).slice(0, 2)).toEqual([
      "TOTAL_AMOUNT: 20.53",
      "Tokens: 20525001 = 20.53",
    ]);
  });
});
