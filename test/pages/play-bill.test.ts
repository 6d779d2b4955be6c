/** The playground has the invoices of the command line for the same input: every golden case and every recipe. */
import { afterAll, expect, test } from "vitest";

import { CARD_LINE_TYPES } from "../../src/invoicing/invoice.ts";
import { buildRecipeBook, buildRecipeEvents } from "../../src/pages/play-state.ts";
import { computeBill } from "../../src/pages/play/play-bill.ts";
import { CATALOG } from "../book/catalog-book.ts";
import { folder, ratebook } from "../cli/fake-io.ts";
import { goldenCases } from "../support/golden.ts";
import { recipes } from "../support/recipes.ts";

const files = folder();
afterAll(() => files.remove());

/** A line of an invoice as the command line writes it in JSON. */
interface Line {
  readonly type: string;
  readonly value: number;
  readonly lineItems?: readonly Line[];
}

const listLines = (line: Line): readonly Line[] => [line, ...(line.lineItems ?? []).flatMap(listLines)];

/** The figures of an invoice from top to bottom: cards, sub-totals, true-ups, credits, total. */
function listFigures(revenueInfo: Line): readonly number[] {
  const lines = listLines(revenueInfo);
  const ofType = (isWanted: (type: string) => boolean): readonly number[] =>
    lines.filter(({ type }) => isWanted(type)).map(({ value }) => value);
  return [
    ...ofType((type) => CARD_LINE_TYPES.has(type)),
    ...ofType((type) => type === "SUB_TOTAL_AMOUNT"),
    ...ofType((type) => type === "TRUE_UP_AMOUNT").filter((value) => value !== 0),
    ...ofType((type) => type === "SUB_CREDITS"),
    revenueInfo.value,
  ];
}

const { book: catalog } = CATALOG;

test.each([
  ...goldenCases().map(({ it, book, events, options: { from, until } }) => ({
    it,
    book: { ...catalog, ...book },
    events,
    range: { from: String(from), until: String(until) },
  })),
  ...recipes.map((recipe) => ({
    it: recipe.title,
    book: buildRecipeBook(recipe),
    events: buildRecipeEvents(recipe),
    range: { from: "2026-01-01", until: recipe.until ?? "2026-02-01" },
  })),
])("$it", async ({ book, events, range }) => {
  const lines = events.map((event) => `${JSON.stringify(event)}\n`).join("");
  const [bookFile, eventsFile] = [files.file("book.json", JSON.stringify(book)), files.file("events.ndjson", lines)];
  const days = ["--from", range.from, "--until", range.until];
  const { out } = await ratebook(["preview", bookFile, "--events", eventsFile, "--format", "json", ...days]);
  const { invoices } = JSON.parse(out) as { readonly invoices: readonly { readonly revenueInfo: Line }[] };
  const bill = computeBill({ book: JSON.stringify(book), usage: [], events: lines, ...range });
  const shown = bill.periods.flatMap((period) => period.invoices);
  expect(
    shown.map(({ rows }) =>
      rows.flatMap(({ kind, amount = "" }) =>
        ["card", "sum", "total"].includes(kind) ? [Number(amount.replaceAll(/[^\d.-]/g, ""))] : [],
      ),
    ),
  ).toEqual(invoices.map(({ revenueInfo }) => listFigures(revenueInfo)));
});
