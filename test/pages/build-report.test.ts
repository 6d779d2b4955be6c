/** The data of a report equals the terminal output. */
import { describe, expect, test } from "vitest";

import { backtest, createBacktest } from "../../src/analysis/backtest/backtest.ts";
import { parseBook, parsePlan } from "../../src/book/book.ts";
import { formatMoney, formatNumber, invoiceRows } from "../../src/invoicing/invoice-rows.ts";
import { createPreview, preview } from "../../src/ledger/preview/preview.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { minorUnitDigits } from "../../src/numbers/currency.ts";
import { parseDecimal, sum, formatDecimal } from "../../src/numbers/decimal.ts";
import { buildReport } from "../../src/pages/report/build-report.ts";
import { createBookNames, toInvoiceData } from "../../src/pages/report/invoice-data.ts";
import type { InvoiceData, LineData } from "../../src/pages/report/report-data.ts";
import { catalogBook } from "../book/catalog-book.ts";
import { goldenCases } from "../support/golden.ts";
import { bookOfMany, planAt, usageOfMany } from "./many-accounts.ts";

/**
 * The lines as printed by a terminal: label, quantity, rate, amount; only the figures for slabs. The terminal repeats the
 * figures of a card with a single rate on a line below it.
 */
function printLines({ lines }: InvoiceData, digits: number): readonly string[] {
  const figure = (text: string | undefined): string => (text === undefined ? "" : formatNumber(parseDecimal(text)));
  const printRow = (label: string, { quantity, rate, amount }: LineData): string =>
    [label, figure(quantity), figure(rate), formatMoney(parseDecimal(amount), digits)].join(" | ");
  const printLine = (line: LineData): readonly string[] => {
    const { rate, ...card } = line;
    const rows =
      line.kind === "card" && rate !== undefined
        ? [printRow(line.label, card), printRow("slab", line)]
        : [printRow(line.figures === true ? "slab" : line.label, line)];
    return [...rows, ...(line.lines ?? []).flatMap(printLine)];
  };
  return lines.flatMap(printLine);
}

describe("an invoice on a page", () => {
  const cases = goldenCases().map((golden) => {
    const book = catalogBook(golden.book);
    const options = { ...golden.options, explain: true };
    const { invoices } = preview(book, golden.events as Iterable<EventInput>, options);
    const names = createBookNames(book);
    return [
      golden.it,
      invoices.map((invoice) => [invoice, toInvoiceData(invoice, () => undefined, names)] as const),
    ] as const;
  });

  test.each(cases)("%s: has the lines of the terminal", (_, invoices) => {
    for (const [invoice, data] of invoices) {
      const digits = minorUnitDigits(invoice.currency);
      const rows = invoiceRows(invoice);
      const end = rows.findIndex(({ kind, ...row }) => kind === "line" && "cells" in row && row.cells[0] === "Total");
      const lines = printLines(data, digits);
      const terminal = rows
        .slice(0, end + 1)
        .flatMap((row) =>
          row.kind === "line" ? [row.cells.join(" | ").replace(/^Total \|  \| \w+ /, "Total |  |  ")] : [],
        )
        .map((line, index) => (lines[index]?.startsWith("slab |") === true ? line.replace(/^[^|]+/, "slab ") : line));
      expect(lines).toEqual(terminal);
    }
  });
});

test("drafts of one file name have different names", () => {
  const many = parseBook(bookOfMany(1));
  const drafts = [2, 3].map((rate) => parsePlan(planAt("pp.dear", rate), many));
  const result = backtest(many, drafts, { usage: [] });
  const input = { book: many, invoices: [], events: {}, cellsOf: () => [], problems: { first: [], count: 0 } };
  const report = buildReport({
    ...input,
    notBilled: [],
    notices: [],
    backtest: result,
    draftNames: ["a.json", "a.json"],
  });
  expect(report.drafts.map(({ name, plan }) => [name, plan])).toEqual([
    ["a.json", "pp.dear"],
    ["a.json (2)", "pp.dear"],
  ]);
});

describe("a report that exceeds a page", () => {
  const many = parseBook(bookOfMany(40));
  const run = createPreview(many, { explain: true });
  const backtestRun = createBacktest(many, [parsePlan(planAt("pp.dear", 2), many)], { causes: true });
  const [, ...rows] = usageOfMany(40).trim().split("\n");
  for (const row of rows) {
    const [accountId = "", meterId = "", date = "", quantity = ""] = row.split(",");
    run.addUsage({ accountId, meterId, date, quantity });
    backtestRun.addUsage({ accountId, meterId, date, quantity });
  }
  const input = {
    book: many,
    ...run.finish(),
    cellsOf: (accountId: string) => run.cellsOf(accountId),
    problems: { first: [], count: 0 },
    backtest: backtestRun.finish(),
  };
  const bytes = (data: unknown): number => Buffer.byteLength(JSON.stringify(data));

  test("has the largest accounts and the number of omitted ones, and its totals include all", () => {
    const whole = buildReport(input);
    expect([whole.leftOut, whole.detailed, whole.accounts.length]).toEqual([0, 40, 40]);
    const room = { details: 50_000, rows: 3000, drafts: 4000 };
    const cut = buildReport(input, room);
    expect(cut.totals).toEqual(whole.totals);
    expect(cut.usage).toEqual(whole.usage);
    expect(cut.charges).toEqual(whole.charges);
    expect(cut.accounts.map(({ id }) => id)).toEqual(whole.accounts.slice(0, cut.accounts.length).map(({ id }) => id));
    expect(cut.leftOut).toBe(40 - cut.accounts.length);
    expect(cut.leftOut).toBeGreaterThan(0);
    expect(cut.detailed).toBeLessThan(cut.accounts.length);
    expect(cut.accounts.filter(({ detail }) => detail !== undefined)).toEqual(whole.accounts.slice(0, cut.detailed));
    expect(bytes(cut.accounts)).toBeLessThan(room.details + room.rows + 1000);
    const [draft] = cut.drafts;
    expect(bytes(draft?.accounts)).toBeLessThan(room.drafts);
    expect((draft?.accounts.length ?? 0) + (draft?.more ?? 0)).toBe(40);
  });

  test("omits no account to make room for events, which fill the remaining space, largest accounts first", () => {
    const event = { id: "e".repeat(50), timestamp: Date.parse("2024-06-10T09:08:07Z"), quantity: parseDecimal("1.5") };
    const twoEvents = () => ({ count: 7, largest: [event, event] });
    const without = buildReport(input, { details: 1e6, rows: 1e6, drafts: 1e6 });
    const detailBytes = without.accounts.reduce((length, { detail }) => length + bytes(detail), 0);
    const { accounts, detailed } = buildReport(
      { ...input, eventsOf: twoEvents },
      { details: detailBytes + 50_000, rows: 1e6, drafts: 1e6 },
    );
    expect(detailed).toBe(40);
    const eventsIn = accounts.map(({ detail }) => JSON.stringify(detail).split('"count":7').length - 1);
    const last = eventsIn.findLastIndex((count) => count > 0);
    expect(last).toBeGreaterThanOrEqual(0);
    expect(last).toBeLessThan(39);
    expect(eventsIn.slice(0, last + 1).every((count) => count === 90)).toBe(true);
    const [line] = accounts[0]?.detail?.invoices[0]?.lines ?? [];
    const eventRow = { id: "e".repeat(50), time: "09:08:07", quantity: "1.5" };
    expect(line?.days?.events?.[0]).toEqual({ day: 0, count: 7, largest: [eventRow, eventRow] });
  });

  test("without limits: daily charges add up to the lines' amounts, and causes to the differences", () => {
    const whole = buildReport(input);
    const lines = whole.accounts.flatMap(({ detail }) => detail?.invoices.flatMap((each) => each.lines) ?? []);
    const linesWithDays = lines.filter(({ days }) => days !== undefined);
    expect(linesWithDays).toHaveLength(120);
    for (const { amount, days } of linesWithDays) expect(days?.amounts.at(-1)).toBe(amount);
    const [draft] = whole.drafts;
    expect(draft?.totals).toHaveLength(1);
    for (const total of draft?.totals ?? [])
      for (const side of ["before", "after", "difference"] as const)
        expect(formatDecimal(sum(total.items.map((item) => parseDecimal(item[side]))))).toBe(total[side]);
    for (const account of draft?.accounts ?? [])
      for (const { causes, difference } of account.lines)
        expect(formatDecimal(sum(causes.map(({ amount }) => parseDecimal(amount))))).toBe(difference);
  });
});

describe("the summary of a report", () => {
  const schema = { name: "call", attributes: [{ name: "units", unit: "GB" }] };
  const plan = (id: string, currency: string, rates: readonly number[]) => ({
    id,
    name: `Growth ${currency}`,
    currencies: [currency],
    cycle: "MONTHLY",
    usage: rates.map((rate, index) => ({ meter: `um.${index + 1}`, rate })),
    fees: [{ id: "addon.fee", name: "Fee", rate: 10 }],
  });
  const account = (id: string, currency: string, planId: string, credits: readonly object[] = []) => ({
    id,
    invoiceCurrency: currency,
    plans: [{ plan: planId, from: "2024-06-01" }],
    credits,
  });
  const rates = Array.from({ length: 12 }, (_, index) => 12 - index);
  const book = parseBook({
    eventSchemas: [schema],
    usageMeters: rates.map((_, index) => ({
      id: `um.${index + 1}`,
      name: `Item ${index + 1}`,
      schema: "call",
      sum: "units",
    })),
    pricePlans: [plan("pp.usd", "USD", rates), plan("pp.jpy", "JPY", [3])],
    accounts: [
      account("first", "USD", "pp.usd", [{ purpose: "Welcome", creditAmount: 4, effectiveFrom: "2024-06-01" }]),
      account("second", "JPY", "pp.jpy"),
      account("third", "USD", "pp.usd"),
    ],
  });
  const run = createPreview(book, { explain: true, from: "2024-06-01", until: "2024-07-01" });
  const addUsage = (accountId: string, meter: number, day: string, quantity: string): void =>
    run.addUsage({ accountId, meterId: `um.${meter}`, date: `2024-06-${day}`, quantity });
  for (const meter of rates.keys()) {
    addUsage("first", meter + 1, "02", "1.5");
    addUsage("first", meter + 1, "04", "1");
  }
  addUsage("second", 1, "03", "7");
  const { totals, charges, usage, accounts, withoutUsage } = buildReport({
    book,
    ...run.finish(),
    cellsOf: (accountId) => run.cellsOf(accountId),
    problems: { first: [], count: 0 },
  });

  test("has totals, credits, quantities, units and shares by currency, and counts the accounts without usage", () => {
    // 2.5 × (12 + 11 + … + 1) = 195, two fees of 10, and 4 of credit.
    expect(totals[0]).toMatchObject({
      currency: "USD",
      amount: "211",
      credits: "4",
      invoices: 2,
      largest: { label: "first", amount: "201", share: 0.9526 },
    });
    expect(totals[0]?.cards.slice(0, 2)).toEqual([
      { label: "Item 1", amount: "30", quantity: "2.5", unit: "GB", share: 0.1395 },
      { label: "Item 2", amount: "27.5", quantity: "2.5", unit: "GB", share: 0.1279 },
    ]);
    expect(totals[1]).toMatchObject({
      currency: "JPY",
      amount: "31",
      largest: { label: "second", amount: "31", share: 1 },
    });
    expect(withoutUsage).toBe(1);
    expect(accounts.map(({ id, plan: name, items }) => [id, name, ...items])).toEqual([
      ["first", "Growth USD", "30", "27.5", "25"],
      ["second", "Growth JPY", "21", "10"],
      ["third", "Growth USD", "0", "0", "0"],
    ]);
  });

  test("has what each day added for the ten largest items, and the others as one series", () => {
    const [usd, jpy] = charges;
    expect(charges.map(({ currency, from }) => `${currency} ${from}`)).toEqual(["USD 2024-06-01", "JPY 2024-06-01"]);
    expect(usd?.series.map(({ label, others }) => others ?? label)).toEqual([
      ...Array.from({ length: 10 }, (_, index) => `Item ${index + 1}`),
      2,
    ]);
    expect(usd?.series[0]?.amounts.slice(0, 5)).toEqual(["0", "18", "0", "12", "0"]);
    expect(usd?.series[10]?.amounts.slice(0, 5)).toEqual(["0", "4.5", "0", "3", "0"]);
    expect(usd?.series.map(({ amounts }) => amounts.length)).toEqual(Array.from({ length: 11 }, () => 30));
    expect(usage.map(({ from, quantities }) => [from, quantities.length])).toEqual(rates.map(() => ["2024-06-01", 30]));
    expect(jpy?.series).toHaveLength(1);
  });

  test("has one line for a card with a single rate", () => {
    const [card] = accounts[0]?.detail?.invoices[0]?.lines ?? [];
    expect(card).toMatchObject({ label: "Item 1", quantity: "2.5", unit: "GB", rate: "12", amount: "30" });
    expect(card?.lines).toBeUndefined();
  });
});
