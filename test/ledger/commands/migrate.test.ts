/** Accounts move from one version of a plan to another plan or version (S16.5). */
import { describe, expect, test } from "vitest";

import { NO_CARDS, type PricePlanDetailsOverride } from "../../../src/book/resources/price-plan.ts";
import { buildTimeline } from "../../../src/invoicing/timeline.ts";
import { findAccountPlan } from "../../../src/ledger/account/account-plan.ts";
import { isOnSource, migrate, type MigrateRequest, type Migration } from "../../../src/ledger/commands/migrate.ts";
import { runToCompletion } from "../../../src/numbers/steps.ts";
import { calls, planOfMonths } from "../../book/builder.ts";
import { bookWithPlans } from "../../book/catalog-book.ts";
import { toTime, finals, type Ledger, newAccount, openLedger } from "../account-harness.ts";

const onThe = (dayOffset: string, interval = "MONTHLY"): object => ({ interval, startOffset: { dayOffset } });
const book = bookWithPlans([
  planOfMonths("old", { ...calls(1), pricingCycleConfig: onThe("10") }),
  planOfMonths("old", { ...calls(2), pricingCycleConfig: onThe("10") }, { version: 2 }),
  planOfMonths("new", { ...calls(5), pricingCycleConfig: onThe("1") }),
  planOfMonths("week", { ...calls(5), pricingCycleConfig: onThe("1", "WEEKLY") }),
  planOfMonths("euro", { supportedCurrencies: ["EUR"], pricingCycleConfig: onThe("1") }),
  planOfMonths("draft", calls(1), { status: "DRAFT" }),
]);
const NOW = toTime("2024-02-20T15:00:00Z");
const request: MigrateRequest = {
  sourceId: "old",
  sourceVersion: 1,
  targetId: "new",
  targetVersion: 1,
  mode: "IMMEDIATE",
};
const byMonths: PricePlanDetailsOverride = {
  ...NO_CARDS,
  pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "25", monthOffset: "NIL" } },
};

/**
 * Accounts on version 1 of `old` since 10 January: two without override, and one whose cycles an override begins on the
 * 25th.
 */
function onOld(plain: readonly string[], overridden: readonly string[] = []): Ledger {
  const ids = [...plain, ...overridden];
  const ledger = openLedger(
    book,
    ids.map((id) => newAccount(id)),
  );
  for (const id of ids) {
    const override = overridden.includes(id) ? { override: byMonths } : {};
    ledger.associate("old", "2024-01-10", "2024-01-10", { version: 1, ...override }, id);
  }
  return ledger;
}

function migrateAccounts(ledger: Ledger, ids: readonly string[], change: Partial<MigrateRequest> = {}): Migration {
  const all = { ...request, ...change };
  return ledger.runAll(ids, (works) => runToCompletion(migrate(ledger.catalog, works, all, NOW, ledger.ids))).migration;
}

const formatShortDay = (instant: number): string => new Date(instant).toISOString().slice(5, 10);

function listPlans(ledger: Ledger, id: string): readonly string[] {
  const { decisions } = findAccountPlan(ledger.catalog, ledger.parts(id).record);
  return buildTimeline(decisions).map(
    ({ from, until, plan: own }) =>
      `${own.planId}@${own.version} ${formatShortDay(from)}..${formatShortDay(until)} on ${own.cycleConfig.dayOffset}`,
  );
}

describe("migrated accounts", () => {
  test("S16.5 are those on the source version at the time of the move, without future associations", () => {
    const ledger = openLedger(
      book,
      ["v1", "v2", "later", "ended", "free"].map((id) => newAccount(id)),
    );
    ledger.associate("old", "2024-01-10", "2024-01-05", { version: 1 }, "v1");
    ledger.associate("old", "2024-01-10", "2024-01-05", { version: 2 }, "v2");
    ledger.associate("old", "2024-06-01", "2024-01-05", { version: 1 }, "later");
    ledger.associate("old", "2024-01-10", "2024-01-05", { version: 1, until: "2024-02-10" }, "ended");
    const ids = ["v1", "v2", "later", "ended", "free"];
    expect(ids.filter((id) => isOnSource(ledger.catalog, ledger.parts(id).record, request, NOW))).toEqual(["v1"]);
    expect(migrateAccounts(ledger, ids)).toMatchObject({ status: "COMPLETED", total: 1, moved: 1, skipped: 0 });
    expect(listPlans(ledger, "later")).toEqual(["old@1 06-01..01-01 on 10"]);
    expect(listPlans(ledger, "v2")).toEqual(["old@2 01-10..01-01 on 10"]);
  });

  test("S16.5 keep the end of their association, and their later associations are unchanged", () => {
    const ledger = onOld(["a"]);
    ledger.associate("old", "2024-05-01", "2024-01-20", { version: 2, until: "2024-07-01" });
    migrateAccounts(ledger, ["a"]);
    expect(listPlans(ledger, "a")).toEqual([
      "old@1 01-10..02-20 on 10",
      "new@1 02-20..05-01 on 1",
      "old@2 05-01..07-01 on 10",
      "old@1 07-01..01-01 on 10",
    ]);
  });

  test("S16.5 NEXT_CYCLE skips an account whose plan ends before its next cycle starts", () => {
    const ledger = onOld(["a"]);
    ledger.dissociate("2024-03-05", "2024-01-20");
    expect(migrateAccounts(ledger, ["a"], { mode: "NEXT_CYCLE" })).toMatchObject({ total: 1, moved: 0, skipped: 1 });
    expect(listPlans(ledger, "a")).toEqual(["old@1 01-10..03-05 on 10"]);
  });

  test("S16.5 may be none: the result is 0", () => {
    const ledger = onOld([]);
    expect(migrateAccounts(ledger, [])).toMatchObject({ status: "COMPLETED", total: 0, moved: 0, skipped: 0 });
  });

  test("S16.5 IMMEDIATE cuts the cycle: each part is invoiced by its own plan", () => {
    const ledger = onOld(["a"]);
    ledger.use(10, "2024-02-15T00:00:00Z");
    migrateAccounts(ledger, ["a"]);
    ledger.use(10, "2024-02-25T00:00:00Z");
    ledger.until("2024-03-01");
    // 10 × 1 until the 20th, 10 × 5 since.
    expect(finals(ledger)).toEqual([
      "STANDARD 2024-02-10..2024-02-20 of 2024-02-20 DUE 10",
      "STANDARD 2024-02-20..2024-03-01 of 2024-03-01 DUE 50",
    ]);
  });
});

describe("a rejected migration moves no account", () => {
  const rows: readonly (readonly [string, Partial<MigrateRequest>, string])[] = [
    [
      "the source as target",
      { targetId: "old" },
      'source and target are both version 1 of "old"; choose another target version',
    ],
    ["an unknown source", { sourceVersion: 7 }, 'the price plan "old" has no version 7'],
    ["an unknown target", { targetId: "nothing" }, 'no price plan has the id "nothing"'],
    [
      "a DRAFT target",
      { targetId: "draft" },
      'version 1 of "draft" is a draft; only an active version can be associated',
    ],
    [
      "another currency",
      { targetId: "euro" },
      '2 of 2 accounts cannot be moved; "a": version 1 of "euro" supports "EUR", not "USD", the account\'s invoiceCurrency; also "b"',
    ],
    [
      "rule 1: offsets of another interval",
      { targetId: "week", retainStartOffsets: true },
      '2 of 2 accounts cannot be moved; "a": retainStartOffsets needs equal intervals: MONTHLY before, WEEKLY now; also "b"',
    ],
  ];

  test.each(rows)("S16.5 %s", (_because, change, message) => {
    const ledger = onOld(["a", "b"]);
    const before = [ledger.parts("a"), ledger.parts("b")];
    expect(() => migrateAccounts(ledger, ["a", "b"], change)).toThrow(message);
    expect([ledger.parts("a"), ledger.parts("b")]).toEqual(before);
  });

  test("S16.5 the message has the number of accounts and as many names as fit", () => {
    const ids = Array.from({ length: 90 }, (_, index) => `account-number-${index}`);
    const ledger = onOld(ids);
    expect(() => migrateAccounts(ledger, ids, { targetId: "euro" })).toThrow(
      /^(?=.{0,500}$)90 of 90 accounts cannot be moved; "account-number-0": .*; also "account-number-1", "account-number-2"/,
    );
  });

  test("S16.5 one account that can't be moved stops the whole migration", () => {
    const ledger = openLedger(book, [newAccount("a"), newAccount("b")]);
    ledger.associate("old", "2024-01-10", "2024-01-10", { version: 1 }, "a");
    const override: PricePlanDetailsOverride = {
      ...NO_CARDS,
      pricingCycleConfig: { interval: "WEEKLY", startOffset: { dayOffset: "2", monthOffset: null } },
    };
    ledger.associate("old", "2024-01-10", "2024-01-10", { version: 1, override }, "b");
    const change = { mode: "IMMEDIATE_IGNORE_OVERRIDE", retainStartOffsets: true } as const;
    expect(() => migrateAccounts(ledger, ["a", "b"], change)).toThrow(
      '1 of 2 accounts cannot be moved; "b": retainStartOffsets needs',
    );
    expect(listPlans(ledger, "a")).toEqual(["old@1 01-10..01-01 on 10"]);
  });
});
