/** Migrations through the engine API: every mode, with and without overrides and retained offsets (S16.4, S16.5). */
import { describe, expect, test } from "vitest";

import { MIGRATION_MODES, type MigrationMode } from "../../../src/book/resources/requests.ts";
import { type ClockedEngine, loadedAt } from "../support.ts";

/** Monthly cycles from a day, in the long form of overrides. */
const onDay = (dayOffset: string) => ({ interval: "MONTHLY", startOffset: { dayOffset, monthOffset: "NIL" } }) as const;
const feeOf = (rate: number) => [{ id: "fee", rate }];

/**
 * Three accounts on the old plan since 10 January, with cycles from the 10th at 1 dollar each: one without override,
 * one whose cycles begin on the 25th, and one that pays 3 dollars. The target plan's cycles begin on the 1st, at 5
 * dollars.
 */
async function onOld(): Promise<ClockedEngine> {
  const override = { cycles: { cycle: { interval: "MONTHLY", day: 25 } }, fee: { fees: feeOf(3) } } as const;
  const association = { plan: "old", from: "2024-01-10" };
  return loadedAt("2024-01-10", {
    pricePlans: [
      { id: "old", cycle: { interval: "MONTHLY", day: 10 }, fees: feeOf(1) },
      { id: "target", cycle: "MONTHLY", fees: feeOf(5) },
    ],
    customers: [{ id: "acme", name: "Acme" }],
    accounts: [
      { id: "plain", customerId: "acme", plans: [association] },
      { id: "cycles", customerId: "acme", plans: [{ ...association, override: override.cycles }] },
      { id: "fee", name: "Acme fee", customerId: "acme", plans: [{ ...association, override: override.fee }] },
    ],
  });
}

/** The cycles of an account that have begun by 4 April, each with its plan, its days and its price. */
async function listCycles({ engine }: ClockedEngine, accountId: string): Promise<readonly string[]> {
  const { invoices } = await engine.preview({ accountIds: [accountId], asOf: "2024-04-04T00:00:00Z" });
  return invoices.map(({ invoice: { pricePlanId, startDate, endDate, revenueInfo } }) => {
    const name = pricePlanId === "old" ? "old" : "new";
    return `${name} ${startDate.slice(5, 10)}..${endDate.slice(5, 10)} ${revenueInfo.value.toFixed()}`;
  });
}

const MOVE = { sourceId: "old", sourceVersion: 1, targetId: "target", targetVersion: 1 };

describe("every mode, with and without overrides and retained offsets", () => {
  // It is 20 February: the next cycle of an account without override begins on 10 March, that of the one with its own
  // cycles on
  // 25 February. Fees without proration are charged whole in each part of a cycle, because the parts have different
  // plans.
  const stays = {
    plain: ["old 01-10..02-10 1", "old 02-10..03-10 1", "old 03-10..04-10 1"],
    cycles: ["old 01-10..01-25 1", "old 01-25..02-25 1", "old 02-25..03-25 1", "old 03-25..04-25 1"],
    fee: ["old 01-10..02-10 3", "old 02-10..03-10 3", "old 03-10..04-10 3"],
  } as const;
  const first = ["new 03-01..04-01 5", "new 04-01..05-01 5"];
  const today = ["new 02-20..03-01 5", ...first];
  const todayOnThe10th = ["new 02-20..03-10 5", "new 03-10..04-10 5"];
  const next = ["new 03-10..04-01 5", "new 04-01..05-01 5"];
  const nextOnThe10th = ["new 03-10..04-10 5"];
  const cut = {
    plain: ["old 01-10..02-10 1", "old 02-10..02-20 1"],
    cycles: ["old 01-10..01-25 1", "old 01-25..02-20 1"],
    fee: ["old 01-10..02-10 3", "old 02-10..02-20 3"],
  } as const;
  const whole = {
    plain: ["old 01-10..02-10 1", "old 02-10..03-10 1"],
    cycles: ["old 01-10..01-25 1", "old 01-25..02-25 1"],
    fee: ["old 01-10..02-10 3", "old 02-10..03-10 3"],
  } as const;
  const onThe25th = ["new 02-25..03-25 5", "new 03-25..04-25 5"];

  type Row = Readonly<Record<"plain" | "cycles" | "fee", readonly string[]>> & {
    readonly mode: MigrationMode;
    readonly retain: boolean;
  };
  const rows: readonly Row[] = [
    { ...stays, mode: "IMMEDIATE", retain: false, plain: [...cut.plain, ...today] },
    { ...stays, mode: "IMMEDIATE", retain: true, plain: [...cut.plain, ...todayOnThe10th] },
    {
      mode: "IMMEDIATE_IGNORE_OVERRIDE",
      retain: false,
      plain: [...cut.plain, ...today],
      cycles: [...cut.cycles, ...today],
      fee: [...cut.fee, ...today],
    },
    {
      mode: "IMMEDIATE_IGNORE_OVERRIDE",
      retain: true,
      plain: [...cut.plain, ...todayOnThe10th],
      cycles: [...cut.cycles, "new 02-20..02-25 5", ...onThe25th],
      fee: [...cut.fee, ...todayOnThe10th],
    },
    { ...stays, mode: "NEXT_CYCLE", retain: false, plain: [...whole.plain, ...next] },
    { ...stays, mode: "NEXT_CYCLE", retain: true, plain: [...whole.plain, ...nextOnThe10th] },
    {
      mode: "NEXT_CYCLE_IGNORE_OVERRIDE",
      retain: false,
      plain: [...whole.plain, ...next],
      cycles: [...whole.cycles, "new 02-25..03-01 5", ...first],
      fee: [...whole.fee, ...next],
    },
    {
      mode: "NEXT_CYCLE_IGNORE_OVERRIDE",
      retain: true,
      plain: [...whole.plain, ...nextOnThe10th],
      cycles: [...whole.cycles, ...onThe25th],
      fee: [...whole.fee, ...nextOnThe10th],
    },
  ];

  test("the table is complete", () => {
    const all = MIGRATION_MODES.flatMap((mode) => [`${mode} false`, `${mode} true`]);
    expect(rows.map(({ mode, retain }) => `${mode} ${retain}`).sort()).toEqual(all.sort());
  });

  test.each(rows)("S16.5 $mode, retainStartOffsets $retain", async ({ mode, retain, ...expected }) => {
    const plans = await onOld();
    const { engine, at } = plans;
    const migration = await at("2024-02-20T15:00:00Z").migrate({
      ...MOVE,
      mode,
      retainStartOffsets: retain,
    });
    const movesOn = mode.endsWith("IGNORE_OVERRIDE") ? 3 : 1;
    expect(migration).toMatchObject({ status: "COMPLETED", total: 3, moved: movesOn, skipped: 3 - movesOn });
    expect((await engine.migrations.list()).items).toMatchObject([
      { id: migration.id, mode, total: 3, moved: movesOn },
    ]);
    for (const id of ["plain", "cycles", "fee"] as const) {
      expect([id, await listCycles(plans, id)]).toEqual([id, expected[id]]);
      const schedules = await engine.accounts.pricingSchedules(id);
      const overridden = schedules.map(({ override }) => override !== undefined);
      const isMoved = id === "plain" || movesOn === 3;
      expect([id, overridden]).toEqual([id, isMoved ? [id !== "plain", false] : [true]]);
    }
  });

  const onThe5th = {
    IMMEDIATE: [...cut.plain, "new 02-20..03-05 5", "new 03-05..04-05 5"],
    NEXT_CYCLE: [...whole.plain, "new 03-10..04-05 5"],
  } as const;

  test.each(MIGRATION_MODES)(
    "S16.5 %s: a cycle configuration given with the migration overrides retained offsets too",
    async (mode) => {
      const plans = await onOld();
      const pricingCycleConfig = { interval: "MONTHLY" as const, startOffset: { dayOffset: "5" } };
      await plans.at("2024-02-20T15:00:00Z").migrate({
        ...MOVE,
        mode,
        retainStartOffsets: true,
        pricingCycleConfig,
      });
      expect(await listCycles(plans, "plain")).toEqual(onThe5th[mode.startsWith("NEXT") ? "NEXT_CYCLE" : "IMMEDIATE"]);
    },
  );
});

test("S16.5 with retained offsets an account keeps the grace period of its cycles too", async () => {
  const association = { plan: "old", from: "2024-01-10" };
  const { engine, at } = await loadedAt("2024-01-10", {
    pricePlans: [
      { id: "old", cycle: { interval: "MONTHLY", day: 10, gracePeriod: 3 }, fees: feeOf(1) },
      { id: "target", cycle: "MONTHLY", fees: feeOf(1) },
    ],
    accounts: ["keeps", "changes"].map((id) => ({ id, ...association })),
  });
  const move = { pricePlanId: "target", effectiveFrom: "2024-02-20" };
  await at("2024-02-20T15:00:00Z").associate("keeps", { ...move, retainStartOffsets: true });
  await engine.associate("changes", {
    ...move,
    pricePlanDetailsOverride: { pricingCycleConfig: onDay("10") },
  });
  /** The status of the invoice of 10 March to 9 April. */
  const statusAt = async (time: string, id: string): Promise<string | undefined> => {
    const { items } = await at(time).invoices.list({ filter: { accountId: id } });
    return items.find(({ invoice }) => invoice.startDate.startsWith("2024-03-10"))?.invoice.status;
  };
  expect(await statusAt("2024-04-12T23:59:59Z", "changes")).toBe("DUE");
  expect(await statusAt("2024-04-12T23:59:59Z", "keeps")).toBe("DRAFT");
  const { accounts } = (await engine.exportBook()).book;
  const exportedPlans = accounts?.find(({ id }) => id === "keeps")?.pricePlans;
  expect(exportedPlans?.map((each) => [each.pricePlanId, each.retainStartOffsets === true])).toEqual([
    ["old", false],
    ["target", true],
  ]);
  expect(await statusAt("2024-04-13T00:00:00Z", "keeps")).toBe("DUE");
});

describe("migrations by activating a version", () => {
  const rows = MIGRATION_MODES.flatMap((mode) =>
    ([undefined, "LATEST_VERSION", "ALL_VERSION"] as const).map((versions) => ({ mode, versions })),
  );

  test.each(rows)("S16.4 $mode, versionsToMigrate $versions", async ({ mode, versions }) => {
    const { engine, at } = await onOld();
    await engine.pricePlans.createVersion("old");
    await engine.pricePlans.activate("old");
    const later = at("2024-01-15");
    await later.accounts.create({ id: "second", name: "Acme second", customerId: "acme" });
    await later.associate("second", { pricePlanId: "old", version: 2, effectiveFrom: "2024-01-15" });
    const now = at("2024-02-20T15:00:00Z");
    await now.pricePlans.createVersion("old");
    await now.pricePlans.update("old", { mode, ...(versions === undefined ? {} : { versionsToMigrate: versions }) });
    await now.pricePlans.activate("old");
    const listSchedules = async (id: string): Promise<readonly string[]> =>
      (await now.accounts.pricingSchedules(id)).map(
        ({ version, from }) => `${version} since ${new Date(from).toISOString().slice(5, 10)}`,
      );
    const isNext = mode.startsWith("NEXT_CYCLE");
    const movesOn = isNext ? "3 since 03-10" : "3 since 02-20";
    const all = versions === "ALL_VERSION";
    const ignores = mode.endsWith("IGNORE_OVERRIDE");
    expect(await listSchedules("second")).toEqual(["2 since 01-15", movesOn]);
    expect(await listSchedules("plain")).toEqual(["1 since 01-10", ...(all ? [movesOn] : [])]);
    expect(await listSchedules("fee")).toEqual(["1 since 01-10", ...(all && ignores ? [movesOn] : [])]);
    const own = isNext ? "3 since 02-25" : movesOn;
    expect(await listSchedules("cycles")).toEqual(["1 since 01-10", ...(all && ignores ? [own] : [])]);
  });
});
