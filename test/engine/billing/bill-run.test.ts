/** Bill runs: an account that can't be billed does not stop the others (S13.4). */
import { describe, expect, test } from "vitest";

import { createEngine, type Engine } from "../../../src/engine/engine.ts";
import { InvariantError, RatebookError } from "../../../src/errors.ts";
import type { EventInput } from "../../../src/metering/event-envelope.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import type { Store } from "../../../src/store/store.ts";
import { perUnit } from "../../book/builder.ts";
import { activeSchema, callEvent, customerWith, engineAt, monthly } from "../support.ts";

/** 20 digits before the point and 20 after it, the longest value of an event (S1.3). Its square has 80 digits. */
const LONGEST = "99999999999999999999.99999999999999999999";

/** Three accounts with calls to bill for March; the meter squares the values of events. */
async function setUpMarch(engine: Engine, rate = "1"): Promise<void> {
  await activeSchema(engine);
  await customerWith(engine, "a");
  for (const id of ["b", "c"]) await engine.accounts.create({ id, name: `Acme ${id}`, customerId: "acme" });
  const count = { var: "attribute.count" };
  const { item: meter } = await engine.usageMeters.create({
    name: "square",
    aggregation: "SUM",
    eventSchemaName: "call",
    computations: [{ order: 1, computation: { "*": [count, count] } }],
  });
  await engine.usageMeters.activate(meter.id);
  const card = {
    usageMeterId: meter.id,
    ...perUnit(rate),
  };
  const { item: plan } = await engine.pricePlans.create({
    name: "Team",
    pricePlanDetails: { ...monthly(), usageRateCards: [card] },
  });
  await engine.pricePlans.activate(plan.id);
  for (const id of ["a", "b", "c"]) {
    await engine.associate(id, { pricePlanId: plan.id, effectiveFrom: "2024-03-01" });
    await engine.ingest([callEvent(`e-${id}`, "2024-03-01T00:00:00Z", 1, id)]);
  }
}

/** An engine whose store fails every transaction with account b while `failing` contains an error. */
function engineWithFaults(skips: (readonly [string, unknown])[]): {
  readonly engine: Engine;
  readonly set: (time: number, failing: Error | undefined) => void;
} {
  let [now, failing] = [Date.parse("2024-03-01T00:00:00Z"), undefined as Error | undefined];
  const inner = memoryStore();
  const store: Store = {
    ...inner,
    transact: (scope, work) =>
      failing !== undefined && scope.accountIds.includes("b") ? Promise.reject(failing) : inner.transact(scope, work),
  };
  const engine = createEngine({ store, clock: () => now, onSkipped: (id, error) => void skips.push([id, error]) });
  return {
    engine,
    set: (time, error) => {
      now = time;
      failing = error;
    },
  };
}

const NO_BILL = 'the account "b" cannot be billed: a result needs more than 100 significant digits';
const APRIL = Date.parse("2024-04-01T00:00:00Z");

describe("a bill run", () => {
  test("S1.4 S13.4 skips an account whose amount has more than 100 digits, and bills the others", async () => {
    // 40 digits times 80 are 120.
    const { engine, at } = engineAt("2024-03-01");
    await setUpMarch(engine, LONGEST);
    const attributes = [{ name: "count", value: LONGEST }];
    const [event] = await engine.ingest([{ ...callEvent("e1", "2024-03-01T00:00:00Z", 1, "b"), attributes }]);
    expect(event?.status).toBe("INGESTION_COMPLETED_EVENT_METERED");
    expect(await at("2024-04-01").finalize()).toEqual({ finalized: 2, skipped: 1, consolidated: 0 });
    expect(await engine.finalize()).toEqual({ finalized: 0, skipped: 1, consolidated: 0 });
    for (const accountId of ["a", "c"]) {
      const { items } = await engine.invoices.list({ filter: { accountId } });
      expect(items.map(({ invoice }) => invoice.status)).toEqual(["DUE"]);
    }
    await expect(engine.invoices.list({ filter: { accountId: "b" } })).rejects.toMatchObject({
      code: "ERR_ARITHMETIC",
      message: NO_BILL,
    });
  });

  test("S13.4 reports the account that it skips and why; the next run bills it", async () => {
    const skips: (readonly [string, unknown])[] = [];
    const { engine, set } = engineWithFaults(skips);
    await setUpMarch(engine);
    const conflict = new RatebookError("ERR_STORE_CONFLICT", "lost every race", {});
    set(APRIL, conflict);
    expect(await engine.finalize()).toEqual({ finalized: 2, skipped: 1, consolidated: 0 });
    expect(skips).toEqual([["b", conflict]]);
    set(APRIL, undefined);
    expect(await engine.finalize()).toEqual({ finalized: 1, skipped: 0, consolidated: 0 });
    expect(skips).toHaveLength(1);
  });

  test("S13.4 stops at once if the store is unavailable, and can be repeated later", async () => {
    const skips: (readonly [string, unknown])[] = [];
    const { engine, set } = engineWithFaults(skips);
    await setUpMarch(engine);
    for (const failure of [new RatebookError("ERR_STORE_UNAVAILABLE", "away", {}), new Error("no answer")]) {
      set(APRIL, failure);
      await expect(engine.finalize()).rejects.toBe(failure);
    }
    expect(skips).toEqual([]);
    set(APRIL, undefined);
    expect(await engine.finalize()).toEqual({ finalized: 3, skipped: 0, consolidated: 0 });
  });

  test("throws an internal error after billing the other accounts", async () => {
    const skips: (readonly [string, unknown])[] = [];
    const { engine, set } = engineWithFaults(skips);
    await setUpMarch(engine);
    const invariantError = new InvariantError("a promise");
    set(APRIL, invariantError);
    await expect(engine.finalize()).rejects.toBe(invariantError);
    expect(skips).toEqual([["b", invariantError]]);
    set(APRIL, undefined);
    expect(await engine.finalize()).toEqual({ finalized: 1, skipped: 0, consolidated: 0 });
  });

  test("S16.7 the day of a group waits for a skipped account, and is then one composite invoice", async () => {
    const { engine, set } = engineWithFaults([]);
    await setUpMarch(engine);
    const terms = { email: "bills@acme.example", dailyInvoiceConsolidation: true };
    const group = await engine.invoiceGroups.create({ ...terms, name: "Both", accountIds: ["a", "b"] });
    await engine.invoiceGroups.create({ ...terms, name: "One", accountIds: ["c"] });
    // All accounts of the group are skipped together: a composite invoice with only one of them would be wrong.
    set(APRIL, new RatebookError("ERR_STORE_CONFLICT", "lost every race", {}));
    expect(await engine.finalize()).toEqual({ finalized: 2, skipped: 2, consolidated: 0 });
    set(APRIL + 86_400_000, new RatebookError("ERR_STORE_CONFLICT", "lost every race", {}));
    expect(await engine.finalize()).toEqual({ finalized: 0, skipped: 2, consolidated: 1 });
    set(APRIL + 2 * 86_400_000, undefined);
    expect(await engine.finalize()).toEqual({ finalized: 1, skipped: 0, consolidated: 1 });
    const both = (await engine.compositeInvoices.list()).items.find((each) => each.invoiceGroupId === group.item.id);
    expect(both?.invoices.map(({ accountId, total }) => [accountId, total.toFixed()])).toEqual([
      ["a", "1"],
      ["b", "1"],
    ]);
  });
});

/** Three engines over one store with 243 accounts to bill for March, on the first of April. */
async function threeEngines(
  store: Store,
): Promise<{ readonly engines: readonly Engine[]; readonly ids: readonly string[] }> {
  const now = { at: Date.parse("2024-03-01T00:00:00Z") };
  const engines = Array.from({ length: 3 }, () => createEngine({ store, clock: () => now.at }));
  const [first] = engines;
  if (first === undefined) throw new Error("no engine");
  await setUpMarch(first);
  const { items: plans } = await first.pricePlans.list();
  const more = Array.from({ length: 240 }, (_, index) => `x${index}`);
  for (const id of more) {
    await first.accounts.create({ id, name: `Acme ${id}`, customerId: "acme" });
    await first.associate(id, { pricePlanId: plans[0]?.item.id ?? "", effectiveFrom: "2024-03-01" });
  }
  await first.ingest(more.map((id) => callEvent(`e-${id}`, "2024-03-01T00:00:00Z", 1, id)));
  now.at = APRIL;
  return { engines, ids: ["a", "b", "c", ...more] };
}

async function countFinalInvoices(engine: Engine | undefined, accountId: string): Promise<number | undefined> {
  const page = await engine?.invoices.list({ filter: { accountId } });
  return page?.items.filter(({ finalizedAt }) => finalizedAt !== undefined).length;
}

describe("bill runs of several engines over one store", () => {
  test("S13.4 share the accounts: each gets one invoice, and each run does a part", async () => {
    const { engines, ids } = await threeEngines(memoryStore());
    const [first] = engines;
    const progress: number[] = [];
    const onProgress = (soFar: { readonly finalized: number }): void => void progress.push(soFar.finalized);
    const runs = await Promise.all(engines.map((engine) => engine.finalize(undefined, { rest: 1, onProgress })));
    expect(runs.reduce((sum, { finalized: finalCount }) => sum + finalCount, 0)).toBe(243);
    for (const { finalized: finalCount } of runs) expect(finalCount).toBeGreaterThan(0);
    expect(progress.filter((finalCount) => runs.some((run) => run.finalized === finalCount)).length).toBeGreaterThan(2);
    for (const id of ids) expect(await countFinalInvoices(first, id)).toBe(1);
    expect(await first?.finalize()).toEqual({ finalized: 0, skipped: 0, consolidated: 0 });
    // Both options work alone.
    expect(await first?.finalize(undefined, { rest: 0 })).toMatchObject({ finalized: 0 });
  });

  test("S13.4 try an account that can't be billed once in its chunk and once alone, then skip it and bill all others", async () => {
    let [tries, isFailing] = [0, false];
    const inner = memoryStore();
    const store: Store = {
      ...inner,
      transact(scope, work) {
        if (!isFailing || !scope.accountIds.includes("b")) return inner.transact(scope, work);
        tries += 1;
        return Promise.reject(new RatebookError("ERR_ARITHMETIC", NO_BILL, {}));
      },
    };
    const { engines, ids } = await threeEngines(store);
    const [first] = engines;
    isFailing = true;
    const runs = await Promise.all(engines.map((engine) => engine.finalize(undefined, { rest: 1 })));
    expect(runs.reduce((sum, { finalized: finalCount }) => sum + finalCount, 0)).toBe(242);
    expect(runs.map(({ skipped: skips }) => skips)).toEqual([1, 1, 1]);
    expect(tries).toBeLessThanOrEqual(2 * engines.length);
    isFailing = false;
    for (const id of ids.filter((each) => each !== "b")) expect(await countFinalInvoices(first, id)).toBe(1);
    expect(await first?.finalize()).toMatchObject({ finalized: 1, skipped: 0 });
  });
});

describe("an account whose amounts have too many digits", () => {
  /** A March in which account b can't be billed, on a day in March or April. */
  async function createBrokenEngine(day: string): Promise<Engine> {
    const { engine, at } = engineAt("2024-03-01");
    await setUpMarch(engine, LONGEST);
    const credit = { purpose: "x", creditAmount: 1, priority: 1, effectiveFrom: "2024-03-01" };
    await engine.credits.create(["a", "b"].map((accountId) => ({ accountId, ...credit })));
    const attributes = [{ name: "count", value: LONGEST }];
    await engine.ingest([{ ...callEvent("e1", "2024-03-01T00:00:00Z", 1, "b"), attributes }]);
    return at(day);
  }

  test.each(["2024-03-10", "2024-04-01"])(
    "S1.4 S13.5 is named by lists and previews over all accounts, which continue without it: %s",
    async (day) => {
      const engine = await createBrokenEngine(day);
      const { items, skipped: skips } = await engine.invoices.list();
      expect(new Set(items.map(({ invoice }) => invoice.accountId))).toEqual(new Set(["a", "c"]));
      expect(skips).toEqual([{ accountId: "b", message: NO_BILL }]);
      expect(await engine.invoices.list({ filter: { customerId: "acme" } })).toEqual({ items, skipped: skips });
      const all = await engine.preview();
      expect(new Set(all.invoices.map(({ invoice }) => invoice.accountId))).toEqual(new Set(["a", "c"]));
      expect(all.skipped).toEqual([{ accountId: "b", message: NO_BILL }]);
      expect(await engine.preview({ accountIds: ["a", "c"] })).toEqual({ invoices: all.invoices });
      for (const accountIds of [["b"], ["a", "b"]]) {
        await expect(engine.preview({ accountIds })).rejects.toMatchObject({
          code: "ERR_ARITHMETIC",
          message: NO_BILL,
        });
      }
      const credits = await engine.credits.list();
      expect(credits.items.map(({ credit }) => credit.accountId)).toEqual(["a"]);
      expect(credits.skipped).toEqual([{ accountId: "b", message: NO_BILL }]);
    },
  );

  test("S1.4 S7 is named by the revenue over all accounts, which contains the others", async () => {
    const engine = await createBrokenEngine("2024-04-01");
    const query = { name: "REVENUE", aggregationPeriod: "MONTH" } as const;
    const range = { startTime: "2024-03-01T00:00:00Z", endTime: "2024-04-01T00:00:00Z" };
    const queryMetrics = async (groupBy: "ACCOUNT_ID" | undefined): Promise<readonly unknown[]> => {
      const [result] = await engine.metrics({ ...range, metricQueries: [{ id: "q", ...query, groupBy }] });
      expect(result?.skipped).toEqual([{ accountId: "b", message: "a result needs more than 100 significant digits" }]);
      return (result?.series ?? []).map(({ group, points }) => [group, points.map(({ value }) => value.toFixed())]);
    };
    // One square each for two events: twice the rate.
    expect(await queryMetrics(undefined)).toEqual([[undefined, ["199999999999999999999.99999999999999999998"]]]);
    expect(await queryMetrics("ACCOUNT_ID")).toEqual(["a", "c"].map((id) => [id, [LONGEST]]));
  });

  test("S2.4 S14.1 accepts no events once its bill is due; events of other accounts in the batch count", async () => {
    const engine = await createBrokenEngine("2024-04-01");
    const batch = [
      callEvent("e2", "2024-04-01T00:00:00Z", 1, "a"),
      callEvent("e3", "2024-04-01T00:00:00Z", 1, "b"),
      callEvent("e4", "2024-04-01T00:00:00Z", 1, "c"),
    ];
    const outcomes = await engine.ingest(batch);
    expect(outcomes.map(({ status }) => status)).toEqual([
      "INGESTION_COMPLETED_EVENT_METERED",
      "INGESTION_FAILED",
      "INGESTION_COMPLETED_EVENT_METERED",
    ]);
    expect(outcomes[1]?.description).toBe(
      'The account "b" cannot be billed, so its events are rejected: a result needs more than 100 significant digits.',
    );
    expect((await engine.events.get("e3")).map(({ status, units }) => [status, units])).toEqual([
      ["INGESTION_FAILED", []],
    ]);
    // Its id is free, and nothing of the account was changed.
    expect((await engine.ingest([batch[1] as EventInput])).map(({ status }) => status)).toEqual(["INGESTION_FAILED"]);
    expect(await engine.finalize()).toEqual({ finalized: 0, skipped: 1, consolidated: 0 });
  });
});
