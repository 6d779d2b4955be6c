/**
 * The playground and the command line print the same invoices for the same input: every golden case and every recipe is
 * run in both.
 */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { CARD_LINE_TYPES } from "../../src/invoicing/invoice.ts";
import { createLink } from "../../src/pages/browser/play/session.ts";
import { readPage } from "../../src/pages/page-file.ts";
import { buildRecipeBook, buildRecipeEvents } from "../../src/pages/play-state.ts";
import { CATALOG } from "../book/catalog-book.ts";
import { folder, ratebook } from "../cli/fake-io.ts";
import { openPage, openSoundPage } from "../support/browser.ts";
import { goldenCases } from "../support/golden.ts";
import { recipes } from "../support/recipes.ts";

/** A line of an invoice as the command line writes it in JSON. */
interface Line {
  readonly type: string;
  readonly value: number;
  readonly lineItems?: readonly Line[];
}
interface PrintedInvoices {
  readonly invoices: readonly { readonly accountId: string; readonly revenueInfo: Line }[];
}

const below = (line: Line): readonly Line[] => [line, ...(line.lineItems ?? []).flatMap(below)];

/** The figures of an invoice from top to bottom: cards, sub-totals, true-ups, credits, total. */
function listFigures({ revenueInfo }: PrintedInvoices["invoices"][number]): readonly number[] {
  const lines = below(revenueInfo);
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

/** The same figures as shown on the page, each invoice after its title, for all billing periods. */
const shownOn = async (page: Page): Promise<readonly (readonly [title: string, figures: readonly number[]])[]> => {
  // One query to the browser: cell by cell, a hundred cases take minutes.
  const texts = (await page.evaluate(`(async () => {
    const shown = [];
    const select = () => document.querySelector("select[aria-label='Billing period']");
    const settle = async () => {
      do await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      while (document.querySelector("#side").ariaBusy === "true");
    };
    await settle();
    const periods = select() === null ? [undefined] : [...select().options].map(({ value }) => value);
    for (const period of periods) {
      if (period !== undefined) {
        // The page may show another case by now.
        if (![...(select()?.options ?? [])].some(({ value }) => value === period)) return [];
        select().value = period;
        select().dispatchEvent(new Event("change", { bubbles: true }));
        await settle();
      }
      for (const invoice of document.querySelectorAll("table.invoice"))
        shown.push([
          invoice.caption.innerText,
          [...invoice.querySelectorAll(":is(tr.card, tr.sum, tr.total) td.number")].map((cell) => cell.innerText),
        ]);
    }
    return shown;
  })()`)) as readonly (readonly [string, readonly string[]])[];
  return texts.map(([title, figures]) => [
    title.split(", ").at(-1) ?? "",
    figures.map((text) => Number(text.replaceAll(/[^\d.-]/g, ""))),
  ]);
};

/** The invoices of a book and its events on the command line. */
async function priceByCommand(book: unknown, events: string, from: string, until: string) {
  const files = folder();
  const [bookFile, eventsFile] = [files.file("book.json", JSON.stringify(book)), files.file("events.ndjson", events)];
  const range = ["--from", from, "--until", until];
  const { out } = await ratebook(["preview", bookFile, "--events", eventsFile, "--format", "json", ...range]);
  files.remove();
  return (JSON.parse(out) as PrintedInvoices).invoices;
}

/** A browser allows at most 200 URL changes of a page in ten seconds, and a case may need two. */
const CASES_OF_PAGE = 90;

test("golden cases", async () => {
  const cases = goldenCases();
  let open = await openPage(await readPage("play"));
  for (const [index, golden] of cases.entries()) {
    if (index % CASES_OF_PAGE === 0) {
      expect(open.faults).toEqual([]);
      await open.close();
      open = await openPage(await readPage("play"));
    }
    const { page } = open;
    const { from, until } = golden.options as { readonly from: string; readonly until: string };
    const [account = {}] = golden.book["accounts"] as readonly object[];
    // The title shows a person and this test that the page shows this case.
    const name = `Case ${index + 1}`;
    const book = { ...CATALOG.book, ...golden.book, accounts: [{ ...account, name }] };
    const events = golden.events.map((event) => JSON.stringify(event)).join("\n");
    const invoices = await priceByCommand(book, `${events}\n`, from, until);
    const expected = invoices.map((invoice) => [name, listFigures(invoice)]);
    const state = { book: JSON.stringify(book), usage: [], events, from, until };
    await page.evaluate(`location.hash = ${JSON.stringify(await createLink(state))}`);
    await expect.poll(() => shownOn(page), { message: golden.it }).toEqual(expected);
  }
  expect(cases.length).toBeGreaterThan(100);
  expect(open.faults).toEqual([]);
  await open.close();
});

test("recipes", async () => {
  const page = await openSoundPage(await readPage("play"));
  for (const recipe of recipes) {
    const events = buildRecipeEvents(recipe).map((event) => `${JSON.stringify(event)}\n`);
    const until = recipe.until ?? "2026-02-01";
    const invoices = await priceByCommand(buildRecipeBook(recipe), events.join(""), "2026-01-01", until);
    const expected = invoices.map(listFigures);
    await page.getByLabel("Start with").selectOption(recipe.title);
    const readFigures = async (): Promise<unknown> => (await shownOn(page)).map(([, figures]) => figures);
    await expect.poll(readFigures, { message: recipe.title }).toEqual(expected);
  }
});
