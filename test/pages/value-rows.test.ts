/** Quantities typed in the playground for meters that do not sum (S19). */
import { expect, test } from "vitest";

import type { DatedQuantity } from "../../src/pages/play-state.ts";
import { computeBill } from "../../src/pages/play/play-bill.ts";

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
