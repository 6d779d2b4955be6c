/** The causes of differences between invoices priced by tables (S18). */
import { expect, test } from "vitest";

import { backtest } from "../../../src/analysis/backtest/backtest.ts";
import { diffInvoices } from "../../../src/analysis/diff/diff-invoices.ts";
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

const toEvents = (uses: readonly Use[]): readonly EventInput[] =>
  uses.map(([model, n], index) => ({
    schemaName: "call",
    id: `e${index}`,
    timestamp: `2026-10-${10 + index}T00:00:00Z`,
    accountId: "acme",
    attributes: { n },
    dimensions: { model },
  }));

/** The causes of the difference, with and without the books. */
function causesOf(prices: readonly [object, object], uses: readonly [readonly Use[], readonly Use[]]): object {
  const books = [bookWith(prices[0]), bookWith(prices[1])] as const;
  const [before, after] = [0, 1].map(
    (side) => preview(books[side] ?? books[0], toEvents(uses[side] ?? []), { explain: true }).invoices,
  );
  const results = [books, undefined].map((known) => {
    const { accounts } = diffInvoices(before ?? [], after ?? [], { books: known });
    const causes = accounts.flatMap(({ lines }) => lines.flatMap((line) => Object.entries(line.causes)));
    return Object.fromEntries(causes.map(([cause, amount]) => [cause, formatFraction(amount)]));
  });
  expect(results[1]).toEqual(results[0]);
  return results[0] ?? {};
}

const table = (...rows: readonly Row[]): object => ({ rateTable: { rows } });

test("S18.2 the rate of a row, its quantity, and both are causes", () => {
  const raised = [{ when: { model: "nova" }, rate: 3 }, ...ROWS.slice(1)];
  const more: readonly Use[] = [["nova", 7], ...USES.slice(1)];
  expect(causesOf([table(...ROWS), table(...ROWS)], [USES, more])).toEqual({ usage: "4" });
  expect(causesOf([table(...ROWS), table(...raised)], [USES, USES])).toEqual({ rates: "5" });
  expect(causesOf([table(...ROWS), table(...raised)], [USES, more])).toEqual({ usage: "4", rates: "7" });
});

test("S18.4 a row that comes or goes, and a price that changes on a date, are rates", () => {
  const cut = { when: { model: "nova" }, from: "2026-10-05", rate: 1 };
  expect(causesOf([table(...ROWS), table(...ROWS.slice(1))], [USES, USES])).toEqual({ rates: "-5" });
  expect(causesOf([table(...ROWS), table(...ROWS, cut)], [USES, USES])).toEqual({ rates: "-5" });
  expect(causesOf([{ rate: 2 }, table(...ROWS)], [USES, USES])).toEqual({ rates: "4" });
});

test("S7.4 the limits of the card are a cause", () => {
  const limited = { rateTable: { rows: ROWS, maximum: 40 } };
  expect(causesOf([table(...ROWS), limited], [USES, USES])).toEqual({ bounds: "-6" });
  expect(causesOf([limited, limited], [USES.slice(1), USES])).toEqual({ usage: "4" });
});

test("S18.2 a backtest of a draft with a table has the same causes", () => {
  const book = bookWith({ rate: 2 });
  const draft = checkPlan({ ...planWith(table(...ROWS)), status: "DRAFT", version: 2 }, book);
  const { plans } = backtest(book, [draft], { events: toEvents(USES), causes: true });
  const causes = plans.flatMap(({ accounts }) => accounts.flatMap(({ lines }) => lines.map((line) => line.causes)));
  expect(
    causes.map((each) => Object.entries(each).map(([cause, amount]) => `${cause} ${formatFraction(amount)}`)),
  ).toEqual([["rates 4"]]);
});
