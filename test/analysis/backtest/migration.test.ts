/** S16.5, S8.1: the effect of moving accounts to a draft on a date. Figures are calculated by hand. */
import { describe, expect, test } from "vitest";

import { backtest } from "../../../src/analysis/backtest/backtest.ts";
import { parseBook, parsePlan } from "../../../src/book/book.ts";
import { formatDecimal } from "../../../src/numbers/decimal.ts";

const prorated = (id: string, rate: number) => ({ id, cycle: "MONTHLY", fees: [{ id: "fee", rate, prorate: true }] });
const override = { fees: [{ id: "fee", rate: 15, prorate: true }] };
const book = parseBook({
  pricePlans: [prorated("pp", 30)],
  accounts: [
    { id: "plain", plan: "pp", from: "2024-05-01" },
    { id: "special", plans: [{ plan: "pp", from: "2024-05-01", override }] },
    { id: "bare" },
  ],
});
const draft = parsePlan(prorated("pp.dear", 60), book);

const tryMigration = (
  mode: "IMMEDIATE" | "IMMEDIATE_IGNORE_OVERRIDE" | "NEXT_CYCLE" | "NEXT_CYCLE_IGNORE_OVERRIDE",
) => {
  const [found] = backtest(book, [draft], {
    from: "2024-06-01",
    until: "2024-08-01",
    migration: { mode, on: "2024-06-16" },
  }).plans;
  return {
    migration: found?.migration,
    accounts: found?.accounts.map(({ accountId, before, after, periods = [] }) => [
      accountId,
      `${formatDecimal(before)} → ${formatDecimal(after)}`,
      ...periods.map(
        (each) =>
          `${each.startDate.slice(5, 10)}/${each.endDate.slice(5, 10)} ${formatDecimal(each.before)} → ${formatDecimal(each.after)}`,
      ),
    ]),
  };
};

describe("a migration on 16 June, from 30 a month to 60", () => {
  // 15 of 30 days at 30 are 15, and 15 of 30 at 60 are 30; July is 60.
  const movedPlan = [
    "plain",
    "60 → 105",
    "06-01/06-16 0 → 15",
    "06-01/07-01 30 → 0",
    "06-16/07-01 0 → 30",
    "07-01/08-01 30 → 60",
  ];
  const stays = ["special", "30 → 30", "06-01/07-01 15 → 15", "07-01/08-01 15 → 15"];

  test("at once: June is cut and its parts are prorated; overrides are retained", () => {
    expect(tryMigration("IMMEDIATE")).toEqual({
      migration: { mode: "IMMEDIATE", on: "2024-06-16", moved: 1, stayed: ["special", "bare"] },
      accounts: [movedPlan, stays],
    });
  });

  test("at once, dropping overrides: 7.5 and 30 of June, then 60", () => {
    expect(tryMigration("IMMEDIATE_IGNORE_OVERRIDE")).toEqual({
      migration: { mode: "IMMEDIATE_IGNORE_OVERRIDE", on: "2024-06-16", moved: 2, stayed: ["bare"] },
      accounts: [
        movedPlan,
        [
          "special",
          "30 → 97.5",
          "06-01/06-16 0 → 7.5",
          "06-01/07-01 15 → 0",
          "06-16/07-01 0 → 30",
          "07-01/08-01 15 → 60",
        ],
      ],
    });
  });

  test("from the next cycle: June is not cut", () => {
    expect(tryMigration("NEXT_CYCLE").accounts).toEqual([
      ["plain", "60 → 90", "06-01/07-01 30 → 30", "07-01/08-01 30 → 60"],
      stays,
    ]);
    expect(tryMigration("NEXT_CYCLE_IGNORE_OVERRIDE").accounts).toEqual([
      ["plain", "60 → 90", "06-01/07-01 30 → 30", "07-01/08-01 30 → 60"],
      ["special", "30 → 75", "06-01/07-01 15 → 15", "07-01/08-01 15 → 60"],
    ]);
  });
});

test("a draft with the id and version of the accounts' plan is its next version", () => {
  const checkedPlan = parsePlan(prorated("pp", 60), book);
  const [found] = backtest(book, [checkedPlan], {
    from: "2024-06-01",
    until: "2024-07-01",
    migration: { mode: "IMMEDIATE", on: "2024-06-16" },
  }).plans;
  expect([found?.planId, found?.version]).toEqual(["pp", 2]);
  expect(found?.accounts.map(({ before, after }) => [before, after].map(formatDecimal))).toEqual([
    ["30", "45"],
    ["15", "15"],
  ]);
});

test.each([
  [
    { mode: "SOON" as never, on: "2024-06-16" },
    "migration: expected the mode IMMEDIATE, IMMEDIATE_IGNORE_OVERRIDE, NEXT_CYCLE, NEXT_CYCLE_IGNORE_OVERRIDE, got SOON",
  ],
  [{ mode: "IMMEDIATE" as const, on: 1 }, "migration: expected a UTC day, got an instant that is not midnight UTC"],
  [{ mode: "IMMEDIATE" as const, on: "2024-06-31" }, '"2024-06-31" is not a date: 2024-06 has days 01 to 30, not 31'],
])("rejects %j", (migration, sentence) => {
  expect(() => backtest(book, [draft], { from: "2024-06-01", until: "2024-07-01", migration })).toThrow(sentence);
});
