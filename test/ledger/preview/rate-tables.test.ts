/** Previews of plans with price tables, with figures by hand (S18). */
import { describe, expect, test } from "vitest";

import { type EventInput, preview, readBook } from "../../../src/index.ts";
import { allLines, type Invoice } from "../../../src/invoicing/invoice.ts";
import { formatDecimal } from "../../../src/numbers/decimal.ts";

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
      "model nova-large, kind input from 2026-10-01 until 2026-10-15: all units, per unit: 2000000 at 0.000005 = 10",
      "model nova-large, kind input from 2026-10-15 until 2026-11-01: all units, per unit: 2000000 at 0.000003 = 6",
      "model nova-large, kind output: all units, per unit: 400000 at 0.000015 = 6",
      "model nova-code, kind output: all units, per unit: 125001 at 0.000008 = 1",
      "kind cached: all units, per unit: 1000000 at 0.0000005 = 0.5",
      "model nova-mini, kind cached: all units, per unit: 2000000 at 0.00000005 = 0.1",
      "model nova-mini: above 0 to 10000000, per unit: 10000000 at 0.0000003 = 3",
      "model nova-mini: above 10000000, per unit: 2000000 at 0.0000002 = 0.4",
    ]);
  });
});
