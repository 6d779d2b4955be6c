/** Bill runs: one account that cannot be billed stops no other one (S13.4). */
import { describe, expect, test } from "vitest";

import { createEngine, type Engine } from "../../src/engine/engine.ts";
import { InvariantError, RatebookError } from "../../src/errors.ts";
import { memoryStore } from "../../src/store/memory.ts";
import type { Store } from "../../src/store/store.ts";
import { activeSchema, call, customerWith, engineAt, monthly } from "./support.ts";

/** 20 digits before the point and 20 after it: as long as a value of an event may be (S1.3). Its square has 80. */
const LONGEST = "99999999999999999999.99999999999999999999";

/** Three accounts whose March ends with calls to pay for; the meter squares what events say. */
async function march(engine: Engine, rate = "1"): Promise<void> {
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
    ratePlan: { pricingModel: "TIERED", slabs: [{ order: 1, startAfter: 0, priceType: "PER_UNIT" }] },
    rateValues: [{ currency: "USD", slabRates: [{ order: 1, rate }] }],
  };
  const { item: plan } = await engine.pricePlans.create({
    name: "Team",
    pricePlanDetails: { ...monthly(), usageRateCards: [card] },
  });
  await engine.pricePlans.activate(plan.id);
  for (const id of ["a", "b", "c"]) {
    await engine.associate(id, { pricePlanId: plan.id, effectiveFrom: "2024-03-01" });
    await engine.ingest([call(`e-${id}`, "2024-03-01T00:00:00Z", 1, id)]);
  }
}

/** An engine whose store fails every transaction with the account b while `failing` says with what. */
function engineWithFaults(skipped: (readonly [string, unknown])[]): {
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
  const engine = createEngine({ store, clock: () => now, onSkipped: (id, error) => void skipped.push([id, error]) });
  return {
    engine,
    set: (time, error) => {
      now = time;
      failing = error;
    },
  };
}

const APRIL = Date.parse("2024-04-01T00:00:00Z");

describe("a bill run", () => {
  test("S1.4 S13.4 leaves an account whose amount has more than 100 digits, and bills the others", async () => {
    // 40 digits times 80 are 120.
    const { engine, at } = engineAt("2024-03-01");
    await march(engine, LONGEST);
    const attributes = [{ name: "count", value: LONGEST }];
    const [event] = await engine.ingest([{ ...call("e1", "2024-03-01T00:00:00Z", 1, "b"), attributes }]);
    expect(event?.status).toBe("INGESTION_COMPLETED_EVENT_METERED");
    expect(await at("2024-04-01").finalize()).toEqual({ finalized: 2, skipped: 1, consolidated: 0 });
    expect(await engine.finalize()).toEqual({ finalized: 0, skipped: 1, consolidated: 0 });
    for (const accountId of ["a", "c"]) {
      const { items } = await engine.invoices.list({ accountId });
      expect(items.map(({ invoice }) => invoice.status)).toEqual(["DUE"]);
    }
    await expect(engine.invoices.list({ accountId: "b" })).rejects.toMatchObject({ code: "ERR_ARITHMETIC" });
  });

  test("S13.4 tells which account it leaves and why; the next run goes on with it", async () => {
    const skipped: (readonly [string, unknown])[] = [];
    const { engine, set } = engineWithFaults(skipped);
    await march(engine);
    const lost = new RatebookError("ERR_STORE_CONFLICT", "lost every race", {});
    set(APRIL, lost);
    expect(await engine.finalize()).toEqual({ finalized: 2, skipped: 1, consolidated: 0 });
    expect(skipped).toEqual([["b", lost]]);
    set(APRIL, undefined);
    expect(await engine.finalize()).toEqual({ finalized: 1, skipped: 0, consolidated: 0 });
    expect(skipped).toHaveLength(1);
  });

  test("S13.4 rejects at once when the store is away, and goes on later", async () => {
    const skipped: (readonly [string, unknown])[] = [];
    const { engine, set } = engineWithFaults(skipped);
    await march(engine);
    for (const away of [new RatebookError("ERR_STORE_UNAVAILABLE", "away", {}), new Error("no answer")]) {
      set(APRIL, away);
      await expect(engine.finalize()).rejects.toBe(away);
    }
    expect(skipped).toEqual([]);
    set(APRIL, undefined);
    expect(await engine.finalize()).toEqual({ finalized: 3, skipped: 0, consolidated: 0 });
  });

  test("a broken promise of our own is thrown, when the others are billed", async () => {
    const skipped: (readonly [string, unknown])[] = [];
    const { engine, set } = engineWithFaults(skipped);
    await march(engine);
    const broken = new InvariantError("a promise");
    set(APRIL, broken);
    await expect(engine.finalize()).rejects.toBe(broken);
    expect(skipped).toEqual([["b", broken]]);
    set(APRIL, undefined);
    expect(await engine.finalize()).toEqual({ finalized: 1, skipped: 0, consolidated: 0 });
  });

  test("S16.7 the day of a group waits for an account that was left, and is one composite invoice then", async () => {
    const { engine, set } = engineWithFaults([]);
    await march(engine);
    const terms = { email: "bills@acme.example", dailyInvoiceConsolidation: true };
    const group = await engine.invoiceGroups.create({ ...terms, name: "Both", accountIds: ["a", "b"] });
    await engine.invoiceGroups.create({ ...terms, name: "One", accountIds: ["c"] });
    // The accounts of the group are left together: a composite invoice of one of them would be a wrong one.
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
