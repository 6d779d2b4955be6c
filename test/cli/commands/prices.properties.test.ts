/** Random price tables as spreadsheets: what is written can be put back (S18). */
import fc from "fast-check";
import { expect, test } from "vitest";

import type { RateRowInput } from "../../../src/book/resources/rate-table.ts";
import { GROUP_BY, tableArbitrary, TEXTS } from "../../rating/table-arbitrary.ts";
import { runs } from "../../support/runs.ts";
import { testFolder } from "../fake-io.ts";

const files = testFolder();

/** Dimensions and texts with anything that CSV, JSON or a spreadsheet could change. */
const oddTexts = fc.oneof(
  fc.string({ minLength: 1, maxLength: 6 }),
  fc.constantFrom(...String.raw`=1+1|'=x|'|''a| a |a,b|a;b|"|true|1.50|-2|é`.split("|"), "'\t", "\t", "a\nb", "\r"),
);
const names = (count: number): fc.Arbitrary<string[]> =>
  fc.uniqueArray(oddTexts, { minLength: count, maxLength: count, selector: (text) => text.trim() });

/** Rows of a table in which each dimension and text has an odd name. */
const tables = fc
  .record({
    table: tableArbitrary().filter(({ rows }) => rows.length > 0),
    dimensions: names(GROUP_BY.length),
    texts: names(TEXTS.length),
    per: fc.constantFrom(undefined, 1000),
    currencies: fc.constantFrom(["USD"], ["EUR", "USD"]),
  })
  .map(({ table, dimensions, texts, per, currencies }) => {
    const toAmount = (rate: unknown): unknown =>
      currencies.length === 1 ? rate : Object.fromEntries(currencies.map((currency) => [currency, rate]));
    const rows = table.rows.map(({ when, ...row }) => ({
      when: Object.fromEntries(
        Object.entries(when ?? {}).map(([dimension, text]) => [
          dimensions[GROUP_BY.indexOf(dimension)],
          texts[TEXTS.indexOf(String(text))],
        ]),
      ),
      ...row,
      ...(row.rate !== undefined && { rate: toAmount(row.rate) }),
      ...(["tiers", "volumeTiers"] as const).reduce(
        (all, field) =>
          row[field] ? { ...all, [field]: row[field].map((tier) => ({ ...tier, rate: toAmount(tier.rate) })) } : all,
        {},
      ),
    })) as readonly RateRowInput[];
    return { rows, dimensions, per, currencies };
  });

interface TestTable {
  readonly rows: readonly RateRowInput[];
  readonly dimensions: readonly string[];
  readonly per: number | undefined;
  readonly currencies: readonly string[];
}

/** A book with comments at each row, which name its index. */
function writeBook({ rows, dimensions, per, currencies }: TestTable, order: readonly number[]): string {
  const lines = order.map((index, at) => {
    const comma = at === order.length - 1 ? "" : ",";
    return `      // above ${index}\n      ${JSON.stringify(rows[index])}${comma} // after ${index}\n`;
  });
  return `{ // a book
  "eventSchemas": [{ "name": "call", "attributes": ["n"], "dimensions": ${JSON.stringify(dimensions)} }],
  "usageMeters": [{ "id": "calls", "schema": "call", "sum": "n", "groupBy": ${JSON.stringify(dimensions)} }],
  "pricePlans": [{ "id": "pp", "cycle": "MONTHLY", "currencies": ${JSON.stringify(currencies)}, "usage": [{ "meter": "calls", "rateTable": {
    ${per === undefined ? "" : `"per": ${per},`} "rows": [\n${lines.join("")}    ] } }] }] }
`;
}

/** The spreadsheet of a book. */
async function writePrices(book: string): Promise<string> {
  files.file("book.jsonc", book);
  const { code, out, err } = await files.run("prices book.jsonc");
  expect([code, err]).toEqual([0, ""]);
  return out;
}

/** The book after an update, and what the command says. */
async function updatePrices(book: string, sheet: string): Promise<{ readonly book: string; readonly out: string }> {
  files.file("book.jsonc", book);
  files.file("prices.csv", sheet);
  const { code, out, err } = await files.run("prices book.jsonc --update prices.csv");
  expect([code, err]).toEqual([0, ""]);
  return { book: files.read("book.jsonc"), out };
}

const RUNS = { numRuns: runs(500, 25) };

test("a spreadsheet that is put back changes nothing, byte for byte", async () => {
  await fc.assert(
    fc.asyncProperty(tables, fc.boolean(), async (table, hasWindowsLines) => {
      const text = writeBook(table, [...table.rows.keys()]);
      const book = hasWindowsLines ? text.replaceAll("\n", "\r\n") : text;
      expect(await updatePrices(book, await writePrices(book))).toEqual({ book, out: "no prices changed\n" });
    }),
    RUNS,
  );
});

test("rows keep their text and comments wherever a spreadsheet moves them", async () => {
  const shuffled = tables.chain((table) =>
    fc.record({
      table: fc.constant(table),
      order: fc.shuffledSubarray([...table.rows.keys()], { minLength: table.rows.length }),
    }),
  );
  await fc.assert(
    fc.asyncProperty(shuffled, fc.boolean(), async ({ table, order }, hasWindowsLines) => {
      const [before = "", after = ""] = [[...table.rows.keys()], order]
        .map((indexes) => writeBook(table, indexes))
        .map((text) => (hasWindowsLines ? text.replaceAll("\n", "\r\n") : text));
      const updated = await updatePrices(before, await writePrices(after));
      expect(updated.book).toBe(after);
    }),
    RUNS,
  );
});

test("after an update a book's table is the spreadsheet, whatever it was before", async () => {
  await fc.assert(
    fc.asyncProperty(tables, tables, async (one, two) => {
      const { dimensions, per, currencies } = one;
      // The tables share their dimensions, and some rows.
      const rename = (when: RateRowInput["when"]): RateRowInput["when"] =>
        Object.fromEntries(
          Object.entries(when ?? {}).map(([name, text]) => [dimensions[two.dimensions.indexOf(name)] ?? "", text]),
        );
      fc.pre(two.currencies.length === currencies.length);
      const other = { ...one, rows: two.rows.map((row) => ({ ...row, when: rename(row.when) })), per };
      const [before, after] = [one, other].map((table) => writeBook(table, [...table.rows.keys()]));
      const sheet = await writePrices(after ?? "");
      fc.pre(hasSameColumns(await writePrices(before ?? ""), sheet));
      const updated = await updatePrices(before ?? "", sheet);
      expect(await writePrices(updated.book)).toBe(sheet);
      for (const comment of ["// a book", ...one.rows.map((_, index) => `// above ${index}`)])
        expect(updated.book).toContain(comment);
    }),
    RUNS,
  );
});

/** Whether the second spreadsheet has all columns of the first. */
function hasSameColumns(one: string, two: string): boolean {
  const header = (sheet: string): string => sheet.slice(0, sheet.indexOf("rate "));
  return header(one) === header(two);
}
