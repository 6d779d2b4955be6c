/** Accounts move from one version of a plan to another plan or version (S16.5). */
import { describe, expect, test } from "vitest";

import type { MigrationRequest } from "../../../src/book/resources/requests.ts";
import { calls, planOfMonths } from "../../book/builder.ts";
import { describeRefusal } from "../../engine/support.ts";
import { accountWith, type Ledger, openLedger } from "../plan-ledger.ts";

const onThe = (dayOffset: string, interval = "MONTHLY"): object => ({ interval, startOffset: { dayOffset } });
const PLANS = [
  planOfMonths("old", { ...calls(1), pricingCycleConfig: onThe("10") }),
  planOfMonths("old", { ...calls(2), pricingCycleConfig: onThe("10") }, { version: 2 }),
  planOfMonths("new", { ...calls(5), pricingCycleConfig: onThe("1") }),
  planOfMonths("week", { ...calls(5), pricingCycleConfig: onThe("1", "WEEKLY") }),
  planOfMonths("euro", { supportedCurrencies: ["EUR"], pricingCycleConfig: onThe("1") }),
  planOfMonths("draft", calls(1), { status: "DRAFT" }),
];

/** Accounts on version 1 of `old` since 10 January. */
async function onOld(...ids: readonly string[]): Promise<Ledger> {
  const pricePlans = [{ pricePlanId: "old", version: 1, effectiveFrom: "2024-01-10" }];
  return openLedger(PLANS, { accounts: ids.map((id) => accountWith(id, { pricePlans })) });
}

/** Moves accounts on 20 February. */
const migrate = ({ at }: Ledger, change: Partial<MigrationRequest> = {}) =>
  at("2024-02-20T15:00:00Z").migrate({
    sourceId: "old",
    sourceVersion: 1,
    targetId: "new",
    targetVersion: 1,
    mode: "IMMEDIATE",
    ...change,
  });

describe("migrated accounts", () => {
  test("S16.5 are those on the source version at the time of the move, without future associations", async () => {
    const ids = ["v1", "v2", "later", "ended", "free"];
    const ledger = await openLedger(PLANS, { accounts: ids.map((id) => accountWith(id)) });
    await ledger.associate("old", "2024-01-10", "2024-01-05", { version: 1 }, "v1");
    await ledger.associate("old", "2024-01-10", "2024-01-05", { version: 2 }, "v2");
    await ledger.associate("old", "2024-06-01", "2024-01-05", { version: 1 }, "later");
    await ledger.associate("old", "2024-01-10", "2024-01-05", { version: 1, until: "2024-02-10" }, "ended");
    expect(await migrate(ledger)).toMatchObject({ status: "COMPLETED", total: 1, moved: 1, skipped: 0 });
    expect((await ledger.plans("v1")).at(-1)).toBe("new@1 2024-02-20..9999-01-01 on 1");
    expect(await ledger.plans("later")).toEqual(["old@1 2024-06-01..9999-01-01 on 10"]);
    expect(await ledger.plans("v2")).toEqual(["old@2 2024-01-10..9999-01-01 on 10"]);
  });

  test("S16.5 keep the end of their association, and their later associations are unchanged", async () => {
    const ledger = await onOld("a");
    await ledger.associate("old", "2024-05-01", "2024-01-20", { version: 2, until: "2024-07-01" });
    await migrate(ledger);
    expect(await ledger.plans()).toEqual([
      "old@1 2024-01-10..2024-02-20 on 10",
      "new@1 2024-02-20..2024-05-01 on 1",
      "old@2 2024-05-01..2024-07-01 on 10",
      "old@1 2024-07-01..9999-01-01 on 10",
    ]);
  });

  test("S16.5 NEXT_CYCLE skips an account whose plan ends before its next cycle starts", async () => {
    const ledger = await onOld("a");
    await ledger.dissociate("2024-03-05", "2024-01-20");
    expect(await migrate(ledger, { mode: "NEXT_CYCLE" })).toMatchObject({ total: 1, moved: 0, skipped: 1 });
    expect(await ledger.plans()).toEqual(["old@1 2024-01-10..2024-03-05 on 10"]);
  });

  test("S16.5 may be none: the result is 0", async () => {
    const expected = { status: "COMPLETED", total: 0, moved: 0, skipped: 0 };
    expect(await migrate(await openLedger(PLANS))).toMatchObject(expected);
  });
});

describe("a rejected migration moves no account", () => {
  const all = (why: string): string => `ERR_REFUSED 2 of 2 accounts cannot be moved; "a": ${why}; also "b"`;

  test.each<[message: string, change: Partial<MigrationRequest>]>([
    ['ERR_REFUSED source and target are both version 1 of "old"; choose another target version', { targetId: "old" }],
    ['ERR_NOT_FOUND the price plan "old" has no version 7', { sourceVersion: 7 }],
    ['ERR_NOT_FOUND no price plan has the id "nothing"', { targetId: "nothing" }],
    ['ERR_REFUSED version 1 of "draft" is a draft; only an active version can be associated', { targetId: "draft" }],
    [all('version 1 of "euro" supports "EUR", not "USD", the account\'s invoiceCurrency'), { targetId: "euro" }],
    [
      all("retainStartOffsets needs equal intervals: MONTHLY before, WEEKLY now"),
      { targetId: "week", retainStartOffsets: true },
    ],
  ])("S16.5 %s", async (message, change) => {
    const ledger = await onOld("a", "b");
    const before = [await ledger.stored("a"), await ledger.stored("b")];
    expect(await describeRefusal(migrate(ledger, change))).toBe(message);
    expect([await ledger.stored("a"), await ledger.stored("b")]).toEqual(before);
  });

  test("S16.5 the message has the number of accounts and as many names as fit", async () => {
    const ledger = await onOld(...Array.from({ length: 90 }, (_, index) => `account-number-${100 + index}`));
    await expect(migrate(ledger, { targetId: "euro" })).rejects.toThrow(
      /^(?=.{0,500}$)90 of 90 accounts cannot be moved; "account-number-100": .*; also "account-number-101", "account-number-102"/,
    );
  });

  test("S16.5 one account that can't be moved stops the whole migration", async () => {
    const ledger = await openLedger(PLANS, { accounts: [accountWith("a"), accountWith("b")] });
    await ledger.associate("old", "2024-01-10", "2024-01-10", { version: 1 }, "a");
    const override = { pricingCycleConfig: onThe("2", "WEEKLY") };
    await ledger.associate("old", "2024-01-10", "2024-01-10", { version: 1, override }, "b");
    const change = { mode: "IMMEDIATE_IGNORE_OVERRIDE", retainStartOffsets: true } as const;
    await expect(migrate(ledger, change)).rejects.toThrow(
      '1 of 2 accounts cannot be moved; "b": retainStartOffsets needs',
    );
    expect(await ledger.plans("a")).toEqual(["old@1 2024-01-10..9999-01-01 on 10"]);
  });
});
