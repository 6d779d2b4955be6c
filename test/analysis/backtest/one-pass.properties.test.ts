/** S13.5: each side of a backtest equals a separate preview, although events are read and measured only once. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { backtest } from "../../../src/analysis/backtest/backtest.ts";
import type { BacktestPlan } from "../../../src/analysis/backtest/compare-invoices.ts";
import { parseBook, parsePlan } from "../../../src/book/book.ts";
import type { Book } from "../../../src/book/resources/book.ts";
import type { Invoice } from "../../../src/invoicing/invoice.ts";
import { meter } from "../../../src/ledger/preview/preview-run.ts";
import { preview } from "../../../src/ledger/preview/preview.ts";
import type { EventInput } from "../../../src/metering/event-envelope.ts";
import { sum, formatDecimal } from "../../../src/numbers/decimal.ts";
import { runs } from "../../support/runs.ts";

const pp = (id: string, rate: string, more: object = {}) => ({
  id,
  cycle: "MONTHLY",
  usage: ["units", "wide", "tokens"].map((meter) => ({ meter, tiers: [{ upTo: 20, rate }, { rate: "0.5" }] })),
  ...more,
});
const granted = (quantity: number) => ({ entitlements: [{ feature: "tokens", quantity, for: "P1M", rate: 0 }] });
const units = { var: "attribute.units" };
const book = parseBook({
  eventSchemas: [
    { name: "call", attributes: ["units"] },
    { name: "chat", attributes: ["units"] },
  ],
  usageMeters: [
    { id: "units", schema: "call", sum: "units" },
    { id: "wide", schema: "call", sum: { "*": [units, units] } },
    { id: "tokens", schema: "chat", sum: "units" },
  ],
  features: [{ id: "tokens", name: "T", schemaAssociations: [{ schemaName: "chat", attributeName: "units" }] }],
  pricePlans: [pp("pp", "2", granted(10))],
  accounts: [
    { id: "acct", plan: "pp", from: "2024-01-01" },
    { id: "begun", plan: "pp", from: "2024-02-10" },
    { id: "bare" },
    { id: "gap", plans: [{ plan: "pp", from: "2024-01-01", until: "2024-03-05" }] },
  ],
});
/** Other cycles, other entitlements, overage or none, and rates too long to bill when quantities are long too. */
const drafts = [
  pp("pp.quarter", "1", { ...granted(25), cycle: "QUARTERLY" }),
  pp("pp.overage", "1.5", { ...granted(3), overages: [{ feature: "tokens", rate: 1, max: 8 }] }),
  { id: "pp.none", cycle: "MONTHLY", usage: [{ meter: "units", rate: 3 }] },
  pp("pp.wide", `${"7".repeat(20)}.${"7".repeat(20)}`),
].map((plan) => parsePlan(plan, book));

const eventLists = fc
  .array(
    fc.record({
      schemaName: fc.constantFrom("call", "call", "chat"),
      // Ids repeat, also after the 45 days for which a monthly cycle remembers them and a quarterly one may remember
      // them longer.
      id: fc.nat(8).map(String),
      accountId: fc.constantFrom("acct", "begun", "bare", "gap", "nobody"),
      at: fc.integer({ min: 0, max: 180 * 24 }),
      units: fc.constantFrom<number | string>(1, 2.5, 4, 0, "x"),
    }),
    { maxLength: 40, size: "max" },
  )
  .map((units) =>
    units
      .toSorted((a, b) => a.at - b.at)
      .map(({ at, units: value, ...event }) => ({
        ...event,
        timestamp: new Date(Date.UTC(2024, 0, 1) + at * 3_600_000).toISOString(),
        attributes: [{ name: "units", value }],
      })),
  );
const RANGE = { from: "2024-01-01", until: "2024-07-01" };

const sumByAccount = (invoices: readonly Invoice[]): Record<string, string> =>
  Object.fromEntries(
    book.accounts.flatMap(({ id }) => {
      const own = invoices.filter(({ accountId }) => accountId === id);
      return own.length === 0 ? [] : [[id, formatDecimal(sum(own.map(({ revenueInfo }) => revenueInfo.value)))]];
    }),
  );
const sideOf = ({ accounts }: BacktestPlan, side: "before" | "after"): Record<string, string> =>
  Object.fromEntries(accounts.map((each) => [each.accountId, formatDecimal(each[side])]));
/** Without accounts that only the other side has: theirs are 0. */
const present = (totals: Record<string, string>, expected: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(totals).filter(([id, total]) => id in expected || total !== "0"));

let differing = 0;
function expectSides(of: Book, events: readonly EventInput[], ids: false | undefined): void {
  const result = backtest(of, drafts, { ...RANGE, events, ids });
  const before = preview(of, events, { ...RANGE, ids });
  expect(result.events).toEqual(before.events);
  const short = backtest(of, drafts, { ...RANGE, events, ids, lines: false });
  expect(short.plans).toEqual(
    result.plans.map((each) => ({
      ...each,
      accounts: each.accounts.map((planResult) => ({ ...planResult, lines: [] })),
    })),
  );
  for (const [index, draft] of drafts.entries()) {
    const after = preview(of, events, { ...RANGE, ids, plan: draft });
    const planResult = result.plans[index];
    if (planResult === undefined) throw new Error("a draft is missing");
    expect(planResult.events).toEqual(after.events);
    const [old, changed] = [sumByAccount(before.invoices), sumByAccount(after.invoices)];
    expect(present(sideOf(planResult, "before"), old)).toEqual(old);
    expect(present(sideOf(planResult, "after"), changed)).toEqual(changed);
    if (JSON.stringify(after.events) !== JSON.stringify(before.events)) differing++;
  }
}

test("equals separate previews for plans that decide events differently, with repeated ids", () => {
  differing = 0;
  fc.assert(
    fc.property(eventLists, fc.constantFrom(undefined, false as const), (events, ids) =>
      expectSides(book, events, ids),
    ),
    { numRuns: runs(120) },
  );
  expect(differing).toBeGreaterThan(runs(20));
});

test("S17.1 gives the same for usage cells and events together as for events alone", () => {
  fc.assert(
    fc.property(eventLists, (list) => {
      // An account without a plan gets a draft with its first accepted event; of a cell only the day is known.
      const ofPlanAccounts = list.filter(({ accountId }) => accountId !== "bare");
      const events = ofPlanAccounts.map((event, index) => ({ ...event, id: String(index) }));
      const isCell = ({ schemaName }: { readonly schemaName: string }): boolean => schemaName === "call";
      const { usage } = meter(book, events.filter(isCell));
      const rest = events.filter((event) => !isCell(event));
      const [each, expected] = [
        backtest(book, drafts, { ...RANGE, usage, events: rest }),
        backtest(book, drafts, { ...RANGE, events }),
      ];
      for (const [index, { accounts }] of expected.plans.entries()) {
        expect(JSON.stringify(each.plans[index]?.accounts)).toBe(JSON.stringify(accounts));
      }
    }),
    { numRuns: runs(60) },
  );
});
