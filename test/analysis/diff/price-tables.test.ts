/** The causes of differences between invoices priced by tables (S18). */
import { expect, test } from "vitest";

import { backtest } from "../../../src/analysis/backtest/backtest.ts";
import { diffInvoices } from "../../../src/analysis/diff/diff-invoices.ts";
import type { DiffRow } from "../../../src/analysis/diff/table-steps.ts";
import { checkPlan, readBook } from "../../../src/book/book.ts";
import type { Book } from "../../../src/book/resources/book.ts";
import type { ShortPlanInput } from "../../../src/book/resources/short-plan.ts";
import { preview } from "../../../src/ledger/preview/preview.ts";
import type { EventInput } from "../../../src/metering/event-envelope.ts";
import { formatFraction } from "../../../src/numbers/fraction.ts";

interface Row {
  readonly when?: object;
  readonly from?: string;
  readonly rate?: number;
  readonly tiers?: readonly object[];
}

const ROWS: readonly Row[] = [
  { when: { model: "nova" }, rate: 2 },
  { when: { model: "code" }, tiers: [{ upTo: 10, rate: 3 }, { rate: 1 }] },
  { rate: 1 },
];

function planWith(price: object): ShortPlanInput {
  return { id: "pp", cycle: "MONTHLY", usage: [{ meter: "calls", ...price }] };
}

function bookWith(price: object): Book {
  return readBook({
    eventSchemas: [{ name: "call", attributes: ["n"], dimensions: ["model"] }],
    usageMeters: [{ id: "calls", schema: "call", sum: "n", groupBy: ["model"] }],
    pricePlans: [planWith(price)],
    accounts: [{ id: "acme", plan: "pp", from: "2026-10-01" }],
  });
}

type Use = readonly [model: string, n: number];
const USES: readonly Use[] = [
  ["nova", 5],
  ["code", 12],
  ["other", 4],
];

/** 2 more of nova. */
const more: readonly Use[] = [["nova", 7], ...USES.slice(1)];

const toEvents = (uses: readonly Use[]): readonly EventInput[] =>
  uses.map(([model, n], index) => ({
    schemaName: "call",
    id: `e${index}`,
    timestamp: `2026-10-${10 + index}T00:00:00Z`,
    accountId: "acme",
    attributes: { n },
    dimensions: { model },
  }));

/** The causes of the difference, the same with and without the books, and those of rows: `usage 4; nova: usage 4`. */
function causesOf(prices: readonly [object, object], uses: readonly [readonly Use[], readonly Use[]]): string {
  const books = [bookWith(prices[0]), bookWith(prices[1])] as const;
  const [before = [], after = []] = [0, 1].map(
    (side) => preview(books[side] ?? books[0], toEvents(uses[side] ?? []), { explain: true }).invoices,
  );
  const [lines = [], others = []] = [books, undefined].map((known) =>
    diffInvoices(before, after, { books: known }).accounts.flatMap(({ lines }) => lines),
  );
  const [causes, otherCauses] = [lines, others].map((each) => each.map((line) => formatCauses(line.causes)).join());
  expect(otherCauses).toBe(causes);
  const rows = lines.flatMap((line) => line.rows ?? []);
  return [
    causes,
    ...rows.map((row) => {
      const name = [...Object.values(row.when), ...(row.change ? [row.change] : [])].join(" ");
      return `${name}: ${formatCauses(row.causes)}`;
    }),
  ].join("; ");
}

const formatCauses = (causes: DiffRow["causes"]): string =>
  Object.entries(causes)
    .map(([cause, amount]) => `${cause} ${formatFraction(amount)}`)
    .join(", ");

const table = (...rows: readonly Row[]): object => ({ rateTable: { rows } });

test("S18.2 the rate of a row, its quantity, and both are causes", () => {
  const raised = [{ when: { model: "nova" }, rate: 3 }, ...ROWS.slice(1)];
  expect(causesOf([table(...ROWS), table(...ROWS)], [USES, more])).toBe("usage 4; nova: usage 4");
  expect(causesOf([table(...ROWS), table(...raised)], [USES, USES])).toBe("rates 5; nova: rates 5");
  expect(causesOf([table(...ROWS), table(...raised)], [USES, more])).toBe("usage 4, rates 7; nova: usage 4, rates 7");
});

test("S18.2 a row that comes or goes is a cause by its rates, whether another row or none prices its groups", () => {
  // 5 of nova cost 10 by their row, 5 by the one for all.
  const moved = "rates -5; nova REMOVED: rates -10; : rates 5";
  expect(causesOf([table(...ROWS), table(...ROWS.slice(1))], [USES, USES])).toBe(moved);
  // 4 others are unpriced before.
  const added = "rates 4; ADDED: rates 4";
  expect(causesOf([table(...ROWS.slice(0, 2)), table(...ROWS)], [USES, USES])).toBe(added);
  // 2 more of nova, at their rate of 2.
  expect(causesOf([table(...ROWS.slice(0, 2)), table(...ROWS)], [USES, more])).toBe(
    "usage 4, rates 4; nova: usage 4; ADDED: rates 4",
  );
});

test("usage of a row that had none, or has none any more, is usage, also if the sum of all rows stays", () => {
  const swapped: readonly Use[] = [["nova", 17], ...USES.slice(2)];
  // 12 more of nova at 2; 12 of code cost 10 × 3 + 2 × 1.
  expect(causesOf([table(...ROWS), table(...ROWS)], [USES, swapped])).toBe("usage -8; nova: usage 24; code: usage -32");
  expect(causesOf([table(...ROWS), table(...ROWS)], [swapped, USES])).toBe("usage 8; nova: usage -24; code: usage 32");
});

test("S18.4 a price that begins on another day is rates, also if usage changes", () => {
  const cut = { when: { model: "nova" }, from: "2026-10-05", rate: 1 };
  expect(causesOf([table(...ROWS), table(...ROWS, cut)], [USES, USES])).toBe("rates -5; nova: rates -5");
  expect(causesOf([table(...ROWS), table(...ROWS, cut)], [USES, more])).toBe(
    "usage 4, rates -7; nova: usage 4, rates -7",
  );
  // The first side has no usage from the 11th on, when the price is 1; nova 6 and 7 are used on the 10th and the 11th.
  const late = { ...cut, from: "2026-10-11" };
  const both: readonly Use[] = [
    ["nova", 6],
    ["nova", 7],
  ];
  expect(causesOf([table(...ROWS, late), table(...ROWS, late)], [[["nova", 5]], both])).toBe("usage 9; nova: usage 9");
});

test("S18.5 another allowance is rates", () => {
  const free = (quantity: number): object => ({ rateTable: { allowance: { quantity }, rows: ROWS } });
  // All 5 of nova are free, and 1 of code, which would cost 1.
  expect(causesOf([free(0), free(6)], [USES, USES])).toBe("rates -11; nova: rates -10; code: rates -1");
});

test("S18.2 a table in place of one rate, and the other way round", () => {
  expect(causesOf([{ rate: 2 }, table(...ROWS)], [USES, USES])).toBe("rates 4");
  expect(causesOf([table(...ROWS), { rate: 2 }], [USES, USES])).toBe("rates -4");
  // 2 more at 2; nova costs 14, code 32, others 4, in place of 23 × 2.
  expect(causesOf([{ rate: 2 }, table(...ROWS)], [USES, more])).toBe("usage 4, rates 4");
});

test("S7.4 the limits of the card are a cause", () => {
  const limited = { rateTable: { rows: ROWS, maximum: 40 } };
  expect(causesOf([table(...ROWS), limited], [USES, USES])).toBe("bounds -6");
  expect(causesOf([limited, limited], [USES.slice(1), USES])).toBe("usage 4; nova: usage 10");
});

test("S18.2 a backtest of a draft with a table has the same causes", () => {
  const book = bookWith({ rate: 2 });
  const draft = checkPlan({ ...planWith(table(...ROWS)), status: "DRAFT", version: 2 }, book);
  const { plans } = backtest(book, [draft], { events: toEvents(USES), causes: true });
  const lines = plans.flatMap(({ accounts }) => accounts.flatMap((account) => account.lines));
  expect(lines.map(({ causes }) => formatCauses(causes))).toEqual(["rates 4"]);
});
