/** Findings in price tables, and in usage that they price (S18). */
import { expect, test } from "vitest";

import { lintBook } from "../../../src/analysis/lint/lint-book.ts";
import { parseBook } from "../../../src/book/book.ts";
import type { Book } from "../../../src/book/resources/book.ts";
import { meter } from "../../../src/ledger/preview/preview-run.ts";

type Row = Readonly<Record<string, unknown>>;

interface Parts {
  readonly where?: object;
  readonly currencies?: readonly string[];
  readonly override?: object;
  readonly lint?: readonly object[];
}

/** Calls by model, and by a size that the event schema computes. */
function bookWith(table: Row, { where, currencies = ["USD"], override, lint = [] }: Parts = {}): Book {
  const size = { if: [{ ">": [{ var: "attribute.n" }, 100] }, "large", { if: [true, "small", "tiny"] }] };
  const enrichments = {
    fields: [
      { name: "size", type: "DIMENSION", order: 1, value: size },
      { name: "maker", type: "DIMENSION", enrichmentType: "VALUE", order: 2, value: "acme" },
    ],
  };
  return parseBook({
    eventSchemas: [{ name: "call", attributes: ["n"], dimensions: ["model"], enrichments }],
    usageMeters: [{ id: "calls", schema: "call", sum: "n", where, groupBy: ["model", "size", "maker"] }],
    pricePlans: [{ id: "pp", cycle: "MONTHLY", currencies, usage: [{ meter: "calls", rateTable: table }] }],
    accounts: [
      { id: "one", plan: "pp", from: "2026-10-01" },
      {
        id: "two",
        pricePlans: [
          {
            pricePlanId: "pp",
            effectiveFrom: "2026-10-01",
            ...(override && { pricePlanDetailsOverride: { usageRateCards: [override] } }),
          },
        ],
      },
    ],
    lint,
  });
}

const PLACE = "pp@1/usage/calls";

function findingsOf(book: Book, usage: Parameters<typeof lintBook>[1] = {}): readonly string[] {
  return lintBook(book, usage).map(
    ({ level, code, at, example }) => `${level} ${code} ${at.replace(PLACE, "…")}: ${example ?? ""}`,
  );
}

const lintRows = (rows: readonly Row[], parts?: Parts): readonly string[] => findingsOf(bookWith({ rows }, parts));

test("S18.2 a row for a text that a computed dimension never has", () => {
  expect(lintRows([{ when: { size: "huge" }, rate: 1 }])).toEqual([
    'warning ROW_NEVER_MATCHES …/row/huge: the event schema computes size as "large" or "small" or "tiny"',
  ]);
  expect(lintRows([{ when: { maker: "Acme" }, rate: 1 }])).toEqual([
    'warning ROW_NEVER_MATCHES …/row/Acme: the event schema computes maker as "acme"',
  ]);
  expect(lintRows([{ when: { maker: "acme", size: "tiny" }, rate: 1 }])).toEqual([]);
});

test("S18.2 a row for texts that the matcher of the meter excludes", () => {
  const rows = [
    { when: { model: "nova" }, rate: 1 },
    { when: { model: "old" }, rate: 1 },
  ];
  expect(lintRows(rows, { where: { model: ["nova", "code"] } })).toEqual([
    'warning ROW_NEVER_MATCHES …/row/old: no match with dimension.model "old"; correct the row, or the matcher',
  ]);
  expect(lintRows(rows)).toEqual([]);
});

test("S18.2 a row whose groups all have rows with more dimensions is hidden, from the day on which they all are there", () => {
  const sizes = ["large", "small", "tiny"].map((size) => ({ when: { model: "nova", size }, rate: 1 }));
  const general = { when: { model: "nova" }, rate: 2 };
  const from = "2026-11-01";
  expect(lintRows([general, ...sizes])).toEqual([
    "warning ROW_HIDDEN …/row/nova: its groups are those of rows[1] and rows[2] and rows[3]",
  ]);
  expect(lintRows([general, ...sizes.slice(1)])).toEqual([]);
  expect(lintRows([general, ...sizes.map((row) => ({ ...row, from }))])).toEqual([]);
  expect(lintRows([{ ...general, from }, ...sizes])).toHaveLength(1);
  expect(lintRows([{ rate: 2 }, { when: { maker: "acme" }, rate: 1 }])).toEqual([
    "warning ROW_HIDDEN …/row: its groups are those of rows[1]",
  ]);
});

test("S18.3 rates out of scale: per unit among the rows of a model and of all rows, by currency, and against the former price", () => {
  const nova = { when: { model: "nova", size: "large" }, rate: 3 };
  const code = { when: { model: "code", size: "large" }, rate: 2 };
  const small = (rate: unknown): Row => ({ when: { model: "nova", size: "small" }, rate });
  expect(lintRows([nova, code, small("0.0031")])).toEqual([]);
  expect(lintRows([nova, code, small("0.002")])).toEqual([
    "warning RATE_OUT_OF_SCALE …/row/nova/small: rows[2] costs 0.002 USD and rows[1] costs 2.00 USD for 1 unit",
  ]);
  const cut = { ...nova, from: "2026-11-01", rate: "0.003" };
  expect(lintRows([nova, code, cut])).toEqual([
    "warning RATE_OUT_OF_SCALE …/row/nova/large/2026-11-01: rows[2] costs 0.003 USD and rows[0] costs 3.00 USD for 1 unit",
  ]);
  // A package of 1,000 at 2,000 costs 2 a unit.
  expect(lintRows([nova, code, { when: { size: "tiny" }, tiers: [{ rate: 2000, package: 1000 }] }])).toEqual([]);
  const both = (USD: number, EUR: number): Row => ({ USD, EUR });
  const table = {
    per: 1000,
    rows: [{ ...nova, rate: both(3, 3) }, { ...code, rate: both(2, 2) }, small(both(3, 3000))],
  };
  expect(findingsOf(bookWith(table, { currencies: ["USD", "EUR"] }))).toEqual([
    "warning RATE_OUT_OF_SCALE …/row/nova/small: rows[2] costs 3000.00 EUR and rows[0] costs 3.00 EUR for 1000 units",
  ]);
});

test("S18.2 dates out of order", () => {
  expect(lintRows([{ from: "2026-11-01", rate: 2 }, { rate: 1 }, { from: "2026-12-01", rate: 1 }])).toEqual([
    "note DATES_UNORDERED …/row: rows[0] begins on 2026-11-01, rows[1] has no date",
  ]);
});

test("S18.7 the rows of an override are checked by themselves", () => {
  const override = { usageMeterId: "calls", rows: [{ when: { size: "huge" }, rate: 1 }] };
  expect(lintBook(bookWith({ rows: [{ rate: 2 }] }, { override })).map(({ at, path }) => [at, path])).toEqual([
    ["two/pp@1/usage/calls/row/huge", "$.accounts[1].pricePlans[0].pricePlanDetailsOverride.usageRateCards[0].rows[0]"],
  ]);
});

const eventsOf = (...uses: readonly (readonly [account: string, day: number, model: string, n: number])[]): object[] =>
  uses.map(([accountId, day, model, n], index) => ({
    schemaName: "call",
    id: `e${index}`,
    timestamp: `2026-10-${String(day).padStart(2, "0")}T00:00:00Z`,
    accountId,
    attributes: { n },
    dimensions: { model },
  }));

test("S18.2 usage without a row, by plan, group and days, the largest first; rows without usage", () => {
  const rows = [
    { when: { model: "Nova" }, rate: 1 },
    { when: { model: "code" }, from: "2026-10-15", rate: 1 },
    { when: { model: "chat" }, rate: 1 },
    { when: { model: "next" }, from: "2026-11-01", rate: 1 },
  ];
  const override = {
    usageMeterId: "calls",
    rows: [
      { when: { model: "vision" }, rate: 5 },
      { when: { model: "wide" }, rate: 5 },
    ],
  };
  const book = bookWith({ rows }, { override });
  const { usage } = meter(
    book,
    eventsOf(["one", 3, "nova", 7], ["two", 20, "nova", 8], ["one", 4, "vision", 40], ["two", 5, "vision", 9]).concat(
      eventsOf(["one", 14, "code", 1], ["one", 15, "code", 5], ["one", 6, "undone", 2]).map((event, index) => ({
        ...event,
        id: `f${index}`,
      })),
      eventsOf(["one", 6, "undone", -2]).map((event) => ({ ...event, id: "g" })),
    ) as never,
  );
  expect(findingsOf(book, { usage })).toEqual([
    'warning ROW_UNUSED …/row/Nova: no usage from 2026-10-03 to 2026-10-20 has model "Nova"; did you mean model "nova", which has no price?',
    'note ROW_UNUSED …/row/chat: no usage from 2026-10-03 to 2026-10-20 has model "chat"',
    "warning USAGE_UNPRICED …/group/vision/small/acme: 40 units on 2026-10-04 cost 0",
    "warning USAGE_UNPRICED …/group/nova/small/acme: 15 units from 2026-10-03 to 2026-10-20 cost 0",
    "warning USAGE_UNPRICED …/group/code/small/acme: 1 unit on 2026-10-14 costs 0",
    'note ROW_UNUSED two/…/row/wide: no usage from 2026-10-05 to 2026-10-20 has model "wide"',
  ]);
});

test("a book may silence usage without a price", () => {
  const lint = [{ code: "USAGE_UNPRICED", at: `${PLACE}/group/beta`, reason: "free while in beta" }];
  const book = bookWith({ rows: [{ when: { model: "nova" }, rate: 1 }] }, { lint });
  const { usage } = meter(book, eventsOf(["one", 3, "nova", 1], ["one", 3, "beta", 1]) as never);
  expect(lintBook(book, { usage }).map(({ code, silenced }) => [code, silenced])).toEqual([
    ["USAGE_UNPRICED", "free while in beta"],
  ]);
});
