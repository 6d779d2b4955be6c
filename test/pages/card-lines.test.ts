/** The lines of price tables on invoice pages and in reports, with subtotals by the first dimension (S18.6). */
import { expect, test } from "vitest";

import { type EventInput, parseBook, preview, type RateTableInput } from "../../src/index.ts";
import type { Invoice } from "../../src/invoicing/invoice.ts";
import { createPageRows } from "../../src/pages/invoice/invoice-lines.ts";
import { createBookNames, toInvoiceData } from "../../src/pages/report/invoice-data.ts";
import type { LineData } from "../../src/pages/report/report-data.ts";
import { tableBook } from "../support/table-book.ts";

const NO_NAMES = createBookNames(parseBook({}));

const ROWS = [
  { when: { model: "gpt-4-32000", kind: "input" }, rate: "5.00" },
  { when: { model: "gpt-4-32000", kind: "input" }, from: "2026-10-15", rate: "3.00" },
  { when: { kind: "cached" }, rate: "0.50" },
  { when: { model: "gpt-4-32000", kind: "output" }, rate: "15.00" },
  { when: { model: "nova-mini" }, tiers: [{ upTo: 10_000_000, rate: "0.30" }, { rate: "0.20" }] },
  { when: { model: "nova-code" }, rate: "2.00" },
  { when: { model: "nova-mini", kind: "cached" }, rate: "0.05" },
  { when: { model: "nova-code", kind: "cached" }, rate: "0.05" },
];

const USES = [
  [3, "gpt-4-32000", "input", 3_000_000],
  [20, "gpt-4-32000", "input", 2_000_000],
  [4, "gpt-4-32000", "output", 400_000],
  [5, "gpt-4-32000", "cached", 1_000_000],
  [6, "nova-mini", "input", 12_000_000],
  [9, "nova-code", "output", 1_000_000],
] as const;

function previewTable(
  rateTable: RateTableInput,
  uses: readonly (readonly [number, string, string, number])[],
): Invoice {
  const book = tableBook(["model", "kind"], rateTable, { id: "acme", from: "2026-10-01" });
  const events = uses.map(([day, model, kind, tokens], index): EventInput => ({
    schemaName: "call",
    id: `e${index}`,
    timestamp: `2026-10-${String(day).padStart(2, "0")}T12:00:00Z`,
    accountId: "acme",
    attributes: { tokens },
    dimensions: { model, kind },
  }));
  const [invoice] = preview(parseBook(book), { events }, { explain: true }).invoices;
  if (invoice === undefined) throw new TypeError("expected an invoice");
  return invoice;
}

const rowsOf = (invoice: Invoice): readonly string[] =>
  [...createPageRows(invoice)].map(({ kind, label, quantity, rate, amount }) =>
    [kind, label, quantity, rate, amount].filter(Boolean).join(" | "),
  );

const previewOctober = (): Invoice =>
  previewTable({ per: 1_000_000, allowance: { quantity: 1_000_000 }, rows: ROWS }, USES);

test("rates with more than five decimal places are for a million units, as all of their table but packages", () => {
  const rows = [
    { when: { kind: "input" }, rate: "0.00001" },
    { when: { kind: "output" }, tiers: [{ rate: "0.5", package: 1000 }] },
  ];
  const uses = [
    [3, "nova", "input", 500_000],
    [3, "nova", "output", 2000],
  ] as const;
  expect(rowsOf(previewTable({ rows }, uses)).slice(1, 3)).toEqual([
    "slab | input | 500,000 | 0.00001 | 5.00",
    expect.stringMatching(/^slab \| output: .* \| 2,000 \| 0.50 \| 1.00$/),
  ]);
  const tiny = [...rows, { when: { kind: "cached" }, rate: "0.0000025" }];
  expect(rowsOf(previewTable({ rows: tiny }, [...uses, [4, "nova", "cached", 400_000]])).slice(1, 4)).toEqual([
    "slab | input | 500,000 | 10.00 per million | 5.00",
    expect.stringMatching(/^slab \| output: .* \| 2,000 \| 0.50 \| 1.00$/),
    "slab | cached | 400,000 | 2.50 per million | 1.00",
  ]);
});

test("the invoice page has a subtotal for each text of the first dimension with several lines", () => {
  // 2 × 5 + 2 × 3 + 0.4 × 15 = 22; 10 × 0.3 + 2 × 0.2 = 3.40
  expect(rowsOf(previewOctober())).toEqual([
    "card | Tokens | 19,400,000 | 27.90",
    "note | rates by group; free units: 1,000,000 of gpt-4-32000, input",
    "subtotal | gpt-4-32000 | 4,400,000 | 22.00",
    "item | input, 1 to 14 October 2026 | 2,000,000 | 5.00 per million | 10.00",
    "item | input, 15 to 31 October 2026 | 2,000,000 | 3.00 per million | 6.00",
    "item | output | 400,000 | 15.00 per million | 6.00",
    "slab | cached | 1,000,000 | 0.50 per million | 0.50",
    "subtotal | nova-mini | 12,000,000 | 3.40",
    "item | all: first 10,000,000, each | 10,000,000 | 0.30 per million | 3.00",
    "item | all: above 10,000,000, each | 2,000,000 | 0.20 per million | 0.40",
    "slab | nova-code | 1,000,000 | 2.00 per million | 2.00",
    "sum | Sub-total | 27.90",
    "total | Total USD | 27.90",
  ]);
});

test("the report nests the lines below their subtotals, and keeps the digits of texts apart from quantities", () => {
  const describe = ({ label, tier, period, amount, lines = [] }: LineData): unknown => [
    [label, tier, period && `${period.from} until ${period.until}`, amount].filter(Boolean).join(" | "),
    ...lines.map(describe),
  ];
  const [card] = toInvoiceData(previewOctober(), () => undefined, NO_NAMES).lines;
  expect(card && describe(card)).toEqual([
    "Tokens | 27.9",
    [
      "gpt-4-32000 | 22",
      ["input | 2026-10-01 until 2026-10-15 | 10"],
      ["input | 2026-10-15 until 2026-11-01 | 6"],
      ["output | 6"],
    ],
    ["cached | 0.5"],
    ["nova-mini | 3.4", ["all | first 10,000,000, each | 3"], ["all | above 10,000,000, each | 0.4"]],
    ["nova-code | 2"],
  ]);
});

test("a table with one text of the first dimension has no subtotal, and its limits are a line of their own", () => {
  const rows = [
    { when: { model: "nova", kind: "input" }, rate: 1 },
    { when: { model: "nova", kind: "output" }, volumeTiers: [{ upTo: 5, rate: 2 }, { rate: 1 }] },
  ];
  const invoice = previewTable({ rows, minimum: 100 }, [
    [3, "nova", "input", 1],
    [3, "nova", "output", 2],
  ]);
  expect(rowsOf(invoice).slice(0, -2)).toEqual([
    "card | Tokens | 3 | 100.00",
    "slab | nova, input | 1 | 1.00 | 1.00",
    "slab | nova, output: up to 5, each | 2 | 2.00 | 4.00",
    "slab | raised to the minimum | 95.00",
    "note | at least 100",
  ]);
});

test("one line keeps the texts of its group; usage of any group is other usage", () => {
  expect(rowsOf(previewTable({ rows: [{ when: { kind: "input" }, rate: 2 }] }, [[3, "a", "input", 1]]))).toContain(
    "slab | input | 1 | 2.00 | 2.00",
  );
  expect(rowsOf(previewTable({ rows: [{ rate: 2 }] }, [[3, "a", "input", 1]]))).toContain(
    "slab | other usage | 1 | 2.00 | 2.00",
  );
});
