/** The grid of a price table in the playground: cells, and cells pasted from a spreadsheet. */
import { expect, test } from "vitest";

import { readBook } from "../../src/index.ts";
import {
  findWrittenPath,
  readEditableValue,
  replaceValue,
  textAt,
  tryParseJson,
} from "../../src/pages/play/book-edits.ts";
import { parseBookText } from "../../src/pages/play/play-bill.ts";
import {
  changeCell,
  hasSeveralCells,
  listGridColumns,
  listGridRows,
  listRowProblems,
  parsePastedCells,
  pasteCells,
} from "../../src/pages/play/table-grid.ts";
import { tableBook } from "../support/table-book.ts";

const BOOK = tableBook(["model", "kind"], {
  per: 1000,
  rows: [
    { when: { model: "nova", kind: "input" }, rate: 5 },
    { when: { model: "mini" }, tiers: [{ upTo: 10, rate: 2 }, { rate: 1 }] },
  ],
});
const CARD = ["pricePlans", 0, "pricePlanDetails", "usageRateCards", 0];
const TEXT = JSON.stringify(BOOK);
const VALUE = readEditableValue(TEXT);
const ROWS = listGridRows(VALUE, CARD);
const COLUMNS = listGridColumns(VALUE, CARD);
const [MODEL, KIND, FROM, RATE] = COLUMNS as [
  (typeof COLUMNS)[number],
  (typeof COLUMNS)[number],
  (typeof COLUMNS)[number],
  (typeof COLUMNS)[number],
];
const pasteAt = (row: number, column: number, text: string) =>
  pasteCells(ROWS, COLUMNS, { row, column }, parsePastedCells(text));

test("the columns are the dimensions of the meter, the date, and a rate for each currency", () => {
  expect(COLUMNS.map(({ label }) => label)).toEqual(["model", "kind", "from", "rate USD"]);
  expect(ROWS.map((row) => COLUMNS.map((column) => textAt(row, column.path)))).toEqual([
    ["nova", "input", "", "5"],
    ["mini", "", "", ""],
  ]);
  const inEuros = { USD: 5, EUR: 4 };
  for (const text of [
    replaceValue(TEXT, [...CARD, "rateTable", "rows", 0, "rate"], inEuros),
    replaceValue(TEXT, ["pricePlans", 0, "pricePlanDetails", "supportedCurrencies"], Object.keys(inEuros)),
  ]) {
    const labels = listGridColumns(readEditableValue(text), CARD).map(({ label }) => label);
    expect(labels).toEqual(["model", "kind", "from", "rate USD", "rate EUR"]);
  }
  expect(listGridColumns(undefined, CARD).map(({ label }) => label)).toEqual(["from", "rate"]);
});

test("a change of one cell leaves the others, and an empty text removes it", () => {
  expect(changeCell({ when: { model: "a" }, rate: 5 }, FROM, "2026-10-15")).toEqual({
    when: { model: "a" },
    from: "2026-10-15",
    rate: 5,
  });
  expect(changeCell({ when: { model: "a" }, slabsOver: "GROUP" }, KIND, "x")).toEqual({
    when: { model: "a", kind: "x" },
    slabsOver: "GROUP",
  });
  expect(changeCell({ when: { model: "a", kind: "x" }, rate: 5 }, KIND, "")).toEqual({ when: { model: "a" }, rate: 5 });
  expect(changeCell({ when: { model: "a" }, rate: 5 }, MODEL, "")).toEqual({ rate: 5 });
  const same = { when: { model: "a" }, rate: 5 };
  expect(changeCell(same, RATE, "5")).toBe(same);
  expect(changeCell(ROWS[1] ?? {}, RATE, "3")).toEqual({ when: { model: "mini" }, rate: "3" });
  const euros = { label: "rate EUR", path: ["rate", "EUR"] } as const;
  expect(changeCell({ rate: { USD: 5, EUR: 4 } }, euros, "3")).toEqual({ rate: { USD: 5, EUR: "3" } });
  expect(changeCell({ rate: { EUR: 4 } }, euros, "")).toEqual({});
});

test("an edit of the rows keeps the rest of the book", () => {
  const { rows } = pasteAt(0, 3, "7\n");
  const next = replaceValue(TEXT, [...CARD, "rateTable", "rows"], rows);
  expect(tryParseJson(next)).toEqual(tryParseJson(TEXT.replace('"rate":5', '"rate": 7')));
  expect(() => readBook(next)).not.toThrow();
});

test("cells of a spreadsheet: tabs, lines of either system, quotes, and spaces", () => {
  expect(parsePastedCells("a\tb\r\nc\t\r\n")).toEqual([
    ["a", "b"],
    ["c", ""],
  ]);
  expect(parsePastedCells('"a ""b""\nc"\t d \n"e\tf')).toEqual([
    ['a "b"\nc', "d"],
    ['"e', "f"],
  ]);
  expect(parsePastedCells("a\n\nb")).toEqual([["a"], [""], ["b"]]);
  expect(["a", "a\r\n", ""].map(hasSeveralCells)).toEqual([false, false, false]);
  expect(["a\tb", "a\nb", "\ta"].map(hasSeveralCells)).toEqual([true, true, true]);
});

test("a paste fills cells to the right and below, and adds rows", () => {
  const paste = pasteAt(1, 1, "output\t2026-10-15\t$15.00\ncached\t\t1,250.50\n");
  expect(paste).toEqual({
    rows: [
      ROWS[0],
      { when: { model: "mini", kind: "output" }, from: "2026-10-15", rate: "15.00" },
      { when: { kind: "cached" }, rate: "1250.50" },
    ],
    changed: 1,
    added: 1,
    unknownColumns: [],
  });
  // Whether a comma separates thousands or decimals is unknown, so the book's check asks.
  expect(pasteAt(0, 3, "5,000\n5,00").rows.map(({ rate }) => rate)).toEqual(["5,000", "5,00"]);
  expect(pasteAt(0, 0, "nova\tinput\t\t5")).toEqual({ rows: ROWS, changed: 0, added: 0, unknownColumns: [] });
  // The row after the last one; an empty line is no row.
  expect(pasteAt(2, 0, "code\t\t\t1\n\t\t\t\n\t\t\t2\n").rows.slice(2)).toEqual([
    { when: { model: "code" }, rate: "1" },
    { rate: "2" },
  ]);
});

test("a paste with names of columns finds their order", () => {
  expect(pasteAt(0, 2, "Rate\tnote\tmodel\n9\tnew\tnova\n4\t\tmini-2\n3\t\tcode\n")).toEqual({
    rows: [
      { when: { model: "nova", kind: "input" }, rate: "9" },
      { when: { model: "mini-2" }, rate: "4" },
      { when: { model: "code" }, rate: "3" },
    ],
    changed: 2,
    added: 1,
    unknownColumns: ["note"],
  });
  expect(pasteAt(0, 0, "rate USD\n9\n").rows[0]).toEqual({ when: { model: "nova", kind: "input" }, rate: "9" });
});

test("the problems of the book are at their cells and rows, in either form", () => {
  const findProblems = (rows: readonly object[]): unknown => {
    const text = replaceValue(TEXT, [...CARD, "rateTable", "rows"], rows);
    const result = parseBookText(text);
    const problems = "problems" in result ? result.problems.flatMap(({ problem }) => problem ?? []) : [];
    const path = findWrittenPath(text, [...CARD, "rateTable", "rows"]);
    const byRow = listRowProblems(problems, path, listGridColumns(readEditableValue(text), CARD));
    return [...byRow].map(([row, list]) => [
      row,
      ...list.map(({ message, columns }) => [message, columns.map(({ label }) => label)]),
    ]);
  };
  const nova = { when: { model: "nova" }, rate: 5 };
  expect(findProblems([nova, { when: { model: "nova" }, from: "2026-10", rate: "five" }])).toEqual([
    [
      1,
      ['"2026-10" is not a date: expected 2024-01-02 or a date-time such as 2024-01-02T03:04:05Z', ["from"]],
      ['expected a decimal, got "five"', ["rate USD"]],
    ],
  ]);
  expect(findProblems([nova, { when: { kind: "input" }, rate: 5 }])).toEqual([
    [1, [expect.stringMatching(/^row 1 names /), ["model", "kind"]]],
  ]);
  expect(findProblems([nova, nova])).toEqual([[1, [expect.stringContaining("row 1"), []]]]);
  expect(findProblems([nova, { when: { region: "eu" } }])).toEqual([
    [
      1,
      [expect.stringMatching(/^row 1 names /), ["model", "kind", "region"]],
      [expect.stringContaining("um.tokens"), ["region"]],
      ["missing: expected a rate or tiers", ["rate USD"]],
    ],
  ]);
  expect(findProblems([nova])).toEqual([]);
});
