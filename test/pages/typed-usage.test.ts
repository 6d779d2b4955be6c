/** Quantities that are typed in the playground: how totals are spread, meters that do not sum (S19), and items that can be added. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { parseDecimal, sum } from "../../src/numbers/decimal.ts";
import type { DatedQuantity } from "../../src/pages/play-state.ts";
import { editBook, readEditableValue, replaceValue } from "../../src/pages/play/book-edits.ts";
import {
  addItem,
  changeCurrency,
  listCurrencies,
  listItems,
  NEW_ITEMS,
  removeItem,
} from "../../src/pages/play/plan-items.ts";
import { computeBill, parseBookText, withEvenUsage } from "../../src/pages/play/play-bill.ts";
import { isUsageIn, readTotal, spreadTotal } from "../../src/pages/play/typed-usage.ts";
import { SMALL_BOOK } from "../cli/fake-io.ts";

const JUNE = { from: "2024-06-01", until: "2024-07-01" };
const SMALL = `// prices\n${JSON.stringify(SMALL_BOOK, null, 2)}`;
const units = (...quantities: readonly string[]) =>
  quantities.map((quantity, index) => ({ of: "m", date: `2024-06-0${index + 1}`, quantity }));

describe("a total", () => {
  const total = fc.tuple(fc.nat(10_000_000), fc.nat(999)).map(([whole, part]) => `${whole}.${part}`);
  const shape = fc.constantFrom(
    { id: "m", isSum: true },
    { id: "m", isSum: false },
    { id: "m", isSum: true, groups: [{ model: "large" }, { model: "mini" }] },
  );
  const rows = fc.array(fc.nat(1000).map(String), { maxLength: 9 }).map((quantities) => units(...quantities));

  test("is the sum of the rows that it is spread over, all in the period and none negative", () => {
    fc.assert(
      fc.property(rows, total, shape, (before, text, meter) => {
        const after = spreadTotal(before, text, meter, JUNE);
        const quantities = after.map(({ quantity }) => parseDecimal(quantity));
        expect(sum(quantities).eq(parseDecimal(text))).toBe(true);
        expect(quantities.every((quantity) => !quantity.isNegative())).toBe(true);
        expect(after.every((row) => isUsageIn(JUNE, row))).toBe(true);
        expect(parseDecimal(readTotal(after)).eq(parseDecimal(text))).toBe(true);
      }),
    );
  });

  test("keeps the proportions of days", () => {
    expect(spreadTotal(units("10", "30"), "80", { id: "m", isSum: true }, JUNE)).toEqual(units("20", "60"));
    // 7 × 10 ÷ 40 is 1.75, 7 × 30 ÷ 40 is 5.25: the unit that is left goes to the first day.
    expect(spreadTotal(units("10", "30"), "7", { id: "m", isSum: true }, JUNE)).toEqual(units("2", "5"));
  });

  test("that is no number is one row, as it was typed", () => {
    expect(spreadTotal(units("10", "30"), "1,5", { id: "m", isSum: true }, JUNE)).toEqual(units("1,5"));
    expect(spreadTotal([], "many", { id: "m", isSum: true }, JUNE)).toEqual(units("many"));
  });
});

test("a book without usage begins with an even month, one with usage or events with its own", () => {
  const state = { book: SMALL, usage: [], events: "", ...JUNE };
  const bill = computeBill(state);
  const { usage } = withEvenUsage(state, bill, JUNE);
  expect(usage).toHaveLength(30);
  expect(computeBill({ ...state, usage }).problems).toEqual([]);
  for (const own of [
    { ...state, usage: units("5") },
    { ...state, events: "{}" },
  ])
    expect(withEvenUsage(own, bill, JUNE)).toBe(own);
});

describe("a plan", () => {
  test.each(NEW_ITEMS)("takes a new item: %s, twice", (kind) => {
    const add = (text: string): string => editBook(text, (long) => addItem(long, ["pricePlans", 0], kind));
    const text = add(add(SMALL));
    expect(parseBookText(text)).toHaveProperty("book");
    expect(text).toContain("// prices");
    const names = listItems(readEditableValue(text), ["pricePlans", 0]).map(({ name }) => name);
    const before = listItems(readEditableValue(SMALL), ["pricePlans", 0]).map(({ name }) => name);
    expect(names).toHaveLength(before.length + 2);
    expect(new Set(names).size).toBe(names.length);
    // The quantity of a license that is removed goes with it.
    const quantity = { licenseId: "seats", quantity: "5", effectiveFrom: "2024-06-01" };
    const used = kind === "License" ? replaceValue(text, ["accounts", 0, "licenseUpdates"], [quantity]) : text;
    expect(parseBookText(used)).toHaveProperty("book");
    const removed = names.reduce((left) => {
      const [first] = listItems(readEditableValue(left), ["pricePlans", 0]);
      return first === undefined ? left : editBook(left, (long) => removeItem(long, first));
    }, used);
    expect(listItems(readEditableValue(removed), ["pricePlans", 0])).toEqual([]);
    expect(parseBookText(removed)).toHaveProperty("book");
    expect(removed).toContain("// prices");
  });

  test("takes another currency, with the same figures", () => {
    const text = editBook(SMALL, (long) => changeCurrency(long, "EUR"));
    expect(listCurrencies(readEditableValue(text))).toEqual(["EUR"]);
    expect(text).toContain("// prices");
    expect(parseBookText(text)).toHaveProperty("book");
  });
});

/** The notes and totals, or the problems, of October at 1.00 for a unit. */
function priceTyped(meter: object, usage: readonly (readonly [date: string, quantity: string])[]): readonly string[] {
  const book = JSON.stringify({
    eventSchemas: [{ name: "sample", attributes: ["value"], dimensions: ["user"] }],
    usageMeters: [{ id: "m", schema: "sample", ...meter }],
    pricePlans: [{ id: "p", cycle: "MONTHLY", usage: [{ meter: "m", rate: 1 }] }],
    accounts: [{ id: "contoso", plans: [{ plan: "p", from: "2026-10-01" }] }],
  });
  const rows = usage.map(([date, quantity]): DatedQuantity => ({ of: "m", date, quantity }));
  const state = { book, usage: rows, events: "", from: "2026-10-01", until: "2026-11-01" };
  const { periods, problems } = computeBill(state);
  const pageRows = periods.flatMap(({ invoices }) => invoices).flatMap(({ rows: lines }) => lines);
  const notes = pageRows.filter(({ kind }) => kind === "note").map(({ label }) => label);
  const totals = pageRows.filter(({ kind }) => kind === "total").map(({ amount = "" }) => amount);
  return [...notes, ...totals, ...problems.map(({ message }) => message)];
}

test.each<[string, object, string]>([
  ["the peak", { max: "value" }, "$48.00"],
  ["the lowest value", { min: "value" }, "$31.00"],
  ["the daily peaks", { max: "value", daily: true }, "$79.00"],
  ["different values, the same each day", { unique: "user" }, "$48.00"],
  ["daily different values", { unique: "user", daily: true }, "$79.00"],
  ["the last value", { latest: "value" }, "$31.00"],
  // 48 for 12 days and 31 for 17 of 31: (576 + 527) ÷ 31 is 35.58.
  ["a level", { level: "value" }, "$35.58"],
  // 48 for 12 days and 79 for 17 of 31: (576 + 1343) ÷ 31 is 61.90.
  ["changes of a level", { change: "value" }, "$61.90"],
])("%s of typed rows", (_, meter, total) => {
  const usage = [
    ["2026-10-03", "48"],
    ["2026-10-15", "31"],
  ] as const;
  expect(priceTyped(meter, usage).at(-1)).toBe(total);
});

test("S13.6 a note says what decided the quantity", () => {
  expect(priceTyped({ max: "value" }, [["2026-10-03", "48"]])).toEqual([
    "the peak in the billing period: 48 on 2026-10-03",
    "$48.00",
  ]);
});

test("a number of different values must be whole, and a peak a number", () => {
  expect(priceTyped({ unique: "user" }, [["2026-10-03", "1.5"]])).toEqual([
    "usage: m: expected a whole number of different values from 0 to 10000, got 1.5",
  ]);
  expect(priceTyped({ max: "value" }, [["2026-10-03", "many"]])).toHaveLength(1);
});
