/** Bill runs: an account that can't be billed does not stop the others (S13.4). */
import { describe, expect, test } from "vitest";

import type { FinalizeResult } from "../../../src/engine/billing/bill-run.ts";
import { createEngine, type Engine } from "../../../src/engine/engine.ts";
import { InvariantError, RatebookError } from "../../../src/errors.ts";
import type { EventInput } from "../../../src/metering/event-envelope.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import type { Store } from "../../../src/store/store.ts";
import { storeWithHooks } from "../../support/stores.ts";
import { callBook, callEvent, loadedAt } from "../support.ts";

/** 20 digits before the point and 20 after it, the longest value of an event (S1.3). Its square has 80 digits. */
const LONGEST = "99999999999999999999.99999999999999999999";
const LONG_EVENT = {
  ...callEvent("e1", "2024-03-01T00:00:00Z", 1, "b"),
  attributes: [{ name: "count", value: LONGEST }],
};

/** A book in which these accounts have calls to bill for March; the meter squares the values of events. */
function marchBook(ids: readonly string[], rate = "1") {
  const count = { var: "attribute.count" };
  return {
    ...callBook(ids, { usage: [{ meter: "calls", rate }] }),
    usageMeters: [{ id: "calls", schema: "call", sum: { "*": [count, count] } }],
  };
}
const marchEvents = (ids: readonly string[]): readonly EventInput[] =>
  ids.map((id) => callEvent(`e-${id}`, "2024-03-01T00:00:00Z", 1, id));

/** An engine with the accounts a, b and c, and what it skips; it fails every transaction with b for an error. */
async function engineWithFaults() {
  let failing: Error | undefined;
  const skips: (readonly [string, unknown])[] = [];
  const store = storeWithHooks({
    before({ accountIds }) {
      if (failing !== undefined && accountIds.includes("b")) throw failing;
    },
  });
  const onSkipped = (id: string, error: unknown): void => void skips.push([id, error]);
  const { engine, at } = await loadedAt("2024-03-01", marchBook(IDS), { store, onSkipped });
  await engine.ingest(marchEvents(IDS));
  const finalizeAt = (time: string, error?: Error): Promise<FinalizeResult> => {
    failing = error;
    return at(time).finalize();
  };
  return { engine, skips, finalizeAt };
}

const IDS = ["a", "b", "c"];
const NO_BILL = 'the account "b" cannot be billed: a result needs more than 100 significant digits';
const CONFLICT = new RatebookError("ERR_STORE_CONFLICT", "lost every race", {});

describe("a bill run", () => {
  test("S1.4 S13.4 skips an account whose amount has more than 100 digits, and bills the others", async () => {
    // 40 digits times 80 are 120.
    const { engine, at } = await loadedAt("2024-03-01", marchBook(IDS, LONGEST));
    await engine.ingest(marchEvents(IDS));
    const [event] = await engine.ingest([LONG_EVENT]);
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
    const { skips, finalizeAt } = await engineWithFaults();
    expect(await finalizeAt("2024-04-01", CONFLICT)).toEqual({ finalized: 2, skipped: 1, consolidated: 0 });
    expect(await finalizeAt("2024-04-01")).toEqual({ finalized: 1, skipped: 0, consolidated: 0 });
    expect(skips).toEqual([["b", CONFLICT]]);
  });

  const unavailable = new RatebookError("ERR_STORE_UNAVAILABLE", "away", {});
  const promise = new InvariantError("a promise");
  test.each([
    ["S13.4 stops at once if the store is unavailable, and can be repeated later", unavailable, [], 3],
    ["S13.4 stops at once if the store fails, and can be repeated later", new Error("no answer"), [], 3],
    ["throws an internal error after billing the other accounts", promise, [["b", promise]], 1],
  ] as const)("%s", async (_, error, expectedSkips, left) => {
    const { skips, finalizeAt } = await engineWithFaults();
    await expect(finalizeAt("2024-04-01", error)).rejects.toBe(error);
    expect(skips).toEqual(expectedSkips);
    expect(await finalizeAt("2024-04-01")).toEqual({ finalized: left, skipped: 0, consolidated: 0 });
  });

  test("S16.7 the day of a group waits for a skipped account, and is then one composite invoice", async () => {
    const { engine, finalizeAt } = await engineWithFaults();
    const terms = { email: "bills@acme.example", dailyInvoiceConsolidation: true };
    const group = await engine.invoiceGroups.create({ ...terms, name: "Both", accountIds: ["a", "b"] });
    await engine.invoiceGroups.create({ ...terms, name: "One", accountIds: ["c"] });
    // All accounts of the group are skipped together: a composite invoice with only one of them would be wrong.
    expect(await finalizeAt("2024-04-01", CONFLICT)).toEqual({ finalized: 2, skipped: 2, consolidated: 0 });
    expect(await finalizeAt("2024-04-02", CONFLICT)).toEqual({ finalized: 0, skipped: 2, consolidated: 1 });
    expect(await finalizeAt("2024-04-03")).toEqual({ finalized: 1, skipped: 0, consolidated: 1 });
    const both = (await engine.compositeInvoices.list()).items.find((each) => each.invoiceGroupId === group.item.id);
    expect(both?.invoices.map(({ accountId, total }) => `${accountId} ${total.toFixed()}`)).toEqual(["a 1", "b 1"]);
  });
});

const MANY = [...IDS, ...Array.from({ length: 240 }, (_, index) => `x${index}`)];

/** Three engines over one store with 243 accounts to bill for March, on the first of April. */
async function threeEngines(store: Store): Promise<readonly Engine[]> {
  const { engine, at } = await loadedAt("2024-03-01", marchBook(MANY), { store });
  await engine.ingest(marchEvents(MANY));
  const others = [1, 2].map(() => createEngine({ store, clock: () => Date.parse("2024-04-01T00:00:00Z") }));
  return [at("2024-04-01"), ...others];
}

async function countFinalInvoices(engine: Engine | undefined, accountId: string): Promise<number | undefined> {
  const page = await engine?.invoices.list({ filter: { accountId } });
  return page?.items.filter(({ finalizedAt }) => finalizedAt !== undefined).length;
}

describe("bill runs of several engines over one store", () => {
  test("S13.4 share the accounts: each gets one invoice, and each run does a part", async () => {
    const engines = await threeEngines(memoryStore());
    const [first] = engines;
    const progress: number[] = [];
    const onProgress = (soFar: { readonly finalized: number }): void => void progress.push(soFar.finalized);
    const runs = await Promise.all(engines.map((engine) => engine.finalize(undefined, { rest: 1, onProgress })));
    expect(runs.reduce((sum, { finalized: finalCount }) => sum + finalCount, 0)).toBe(243);
    for (const { finalized: finalCount } of runs) expect(finalCount).toBeGreaterThan(0);
    expect(progress.filter((finalCount) => runs.some((run) => run.finalized === finalCount)).length).toBeGreaterThan(2);
    for (const id of MANY) expect(await countFinalInvoices(first, id)).toBe(1);
    expect(await first?.finalize()).toEqual({ finalized: 0, skipped: 0, consolidated: 0 });
    // Both options work alone.
    expect(await first?.finalize(undefined, { rest: 0 })).toMatchObject({ finalized: 0 });
  });

  test("S13.4 try an account that can't be billed once in its chunk and once alone, then skip it and bill all others", async () => {
    let [tries, isFailing] = [0, false];
    const store = storeWithHooks({
      before({ accountIds }) {
        if (!isFailing || !accountIds.includes("b")) return;
        tries += 1;
        throw new RatebookError("ERR_ARITHMETIC", NO_BILL, {});
      },
    });
    const engines = await threeEngines(store);
    const [first] = engines;
    isFailing = true;
    const runs = await Promise.all(engines.map((engine) => engine.finalize(undefined, { rest: 1 })));
    expect(runs.reduce((sum, { finalized: finalCount }) => sum + finalCount, 0)).toBe(242);
    expect(runs.map(({ skipped: skips }) => skips)).toEqual([1, 1, 1]);
    expect(tries).toBeLessThanOrEqual(2 * engines.length);
    isFailing = false;
    for (const id of MANY.filter((each) => each !== "b")) expect(await countFinalInvoices(first, id)).toBe(1);
    expect(await first?.finalize()).toMatchObject({ finalized: 1, skipped: 0 });
  });
});

describe("an account whose amounts have too many digits", () => {
  /** A March in which account b can't be billed, on a day in March or April. */
  async function createBrokenEngine(day: string): Promise<Engine> {
    const { engine, at } = await loadedAt("2024-03-01", marchBook(IDS, LONGEST));
    const credit = { purpose: "x", creditAmount: 1, priority: 1, effectiveFrom: "2024-03-01" };
    await engine.credits.create(["a", "b"].map((accountId) => ({ accountId, ...credit })));
    await engine.ingest([...marchEvents(IDS), LONG_EVENT]);
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
    const batch = IDS.map((id, index) => callEvent(`e${index + 2}`, "2024-04-01T00:00:00Z", 1, id));
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
