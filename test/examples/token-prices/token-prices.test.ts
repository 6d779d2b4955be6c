/** A price table for four models with three kinds of tokens, against figures calculated by hand (S18). */
import { expect, test } from "vitest";

import { preview } from "../../../src/index.ts";
import { verify } from "../../../src/verify.ts";
import { compactLines, headOf } from "../../support/invoice-lines.ts";
import { toEvents } from "../../warehouse/call-invoices.ts";
import { TOKEN_BOOK, TOKEN_CALLS } from "./calls.ts";

test("the table takes 16 lines of a book of 34", () => {
  const lines = TOKEN_BOOK.trimEnd().split("\n");
  const first = lines.findIndex((line) => line.includes('"rateTable": {'));
  const end = lines[first]?.replace(/"rateTable": \{$/, "}");
  const last = lines.findIndex((line, index) => index > first && line === end);
  expect([last - first + 1, lines.length]).toEqual([16, 34]);
});

// Of the first row's 6,500,500 tokens a million are free, those of the first days: 3 × 5 + 2.5005 × 3 = 22.5015.
// 0.500001 × 15 = 7.500015; 0.75 × 2 + 0.125001 × 8 = 2.500008; 0.6 × 4 + 0.05 × 10 = 2.90; 2.34 × 0.50 = 1.17;
// 2 × 0.05 = 0.10; the tiers count input and output of nova-mini: 10 × 0.30 + 2 × 0.20 = 3.40. In total 40.071523.
test("S18 one invoice has the price cut on 15 October and the shared million, to the cent", () => {
  const { invoices, events, problems, notices } = preview(TOKEN_BOOK, toEvents(TOKEN_CALLS), { explain: true });
  expect([events.INGESTION_COMPLETED_EVENT_METERED, problems, notices]).toEqual([TOKEN_CALLS.length, [], []]);
  expect(invoices.map((invoice) => [headOf(invoice), ...compactLines(invoice)])).toEqual([
    [
      "STANDARD 2026-10-01/2026-11-01 on 2026-11-01",
      "USAGE_RATE_CARD_AMOUNT um.tokens: 24865502 = 40.07 (exactly 40.071523)",
      "  USAGE_RATE_CARD_SLAB_AMOUNT um.tokens: 3000000 at 0.000005 = 15",
      "  USAGE_RATE_CARD_SLAB_AMOUNT um.tokens: 2500500 at 0.000003 = 7.5 (exactly 7.5015)",
      "  USAGE_RATE_CARD_SLAB_AMOUNT um.tokens: 500001 at 0.000015 = 7.5 (exactly 7.500015)",
      "  USAGE_RATE_CARD_SLAB_AMOUNT um.tokens: 750000 at 0.000002 = 1.5",
      "  USAGE_RATE_CARD_SLAB_AMOUNT um.tokens: 125001 at 0.000008 = 1 (exactly 1.000008)",
      "  USAGE_RATE_CARD_SLAB_AMOUNT um.tokens: 600000 at 0.000004 = 2.4",
      "  USAGE_RATE_CARD_SLAB_AMOUNT um.tokens: 50000 at 0.00001 = 0.5",
      "  USAGE_RATE_CARD_SLAB_AMOUNT um.tokens: 2340000 at 0.0000005 = 1.17",
      "  USAGE_RATE_CARD_SLAB_AMOUNT um.tokens: 2000000 at 0.00000005 = 0.1",
      "  USAGE_RATE_CARD_SLAB_AMOUNT um.tokens: 10000000 at 0.0000003 = 3",
      "  USAGE_RATE_CARD_SLAB_AMOUNT um.tokens: 2000000 at 0.0000002 = 0.4",
      "SUB_TOTAL_AMOUNT = 40.07",
      "TOTAL_AMOUNT = 40.07",
    ],
  ]);
  expect(invoices.map(({ notices: ofInvoice }) => ofInvoice)).toEqual([[]]);
  expect(verify({ invoices: JSON.parse(JSON.stringify(invoices)) }).differences).toEqual([]);
});
