/** A configuration change reads, checks and compiles only what it affects. */
import { describe, expect, test } from "vitest";

import { createBookCache } from "../../../src/book/reading/book-cache.ts";
import { addOnMethods, settingMethods } from "../../../src/engine/catalog/catalog-resources.ts";
import { eventSchemaMethods, usageMeterMethods } from "../../../src/engine/catalog/event-schemas.ts";
import { pricePlanMethods } from "../../../src/engine/catalog/price-plans.ts";
import { revisionAfter } from "../../../src/engine/documents.ts";
import { bindMethods } from "../../../src/engine/methods.ts";
import { type MemoryStore, memoryStore } from "../../../src/store/memory/memory.ts";
import { activeSchema, contextOver, monthly, sumMeter } from "../support.ts";

const PLANS = 14;
const january10 = (): number => Date.UTC(2024, 0, 10);

/** The modules of an engine that change the configuration, with a count of their work. */
function engineOver(store: MemoryStore) {
  let calls: string[] = [];
  const memory = createBookCache((work, item) => {
    if (work === "read" || work === "check") calls.push("pricePlanDetails" in item ? `${work} plan` : work);
  });
  const context = contextOver(store, january10, memory);
  return {
    addOns: bindMethods(addOnMethods, context),
    settings: bindMethods(settingMethods, context),
    eventSchemas: bindMethods(eventSchemaMethods, context),
    usageMeters: bindMethods(usageMeterMethods, context),
    pricePlans: bindMethods(pricePlanMethods, context),
    /** The program that meters the events of a schema. */
    slotsOf: async (name: string) =>
      (await context.configuration(context.store.read)).catalog.metering.schemas.get(name)?.slots,
    /** What was read and checked since the last call. */
    work: (): readonly string[] => {
      const before = calls;
      calls = [];
      return before;
    },
  };
}

async function engineWithPlans() {
  const store = memoryStore();
  const engine = engineOver(store);
  for (const name of ["call", "job"]) await activeSchema(engine, name);
  const meterId = await sumMeter(engine);
  await engine.usageMeters.activate(meterId);
  const plans: string[] = [];
  for (let n = 0; n < PLANS; n++) {
    const { item } = await engine.pricePlans.create({ name: `Plan ${n}`, pricePlanDetails: monthly(meterId) });
    plans.push(item.id);
  }
  engine.work();
  return { engine, store, plans };
}

describe("a change of the configuration", () => {
  test("reads and checks the changed resource, as sent and as stored, whatever else exists", async () => {
    const { engine, plans } = await engineWithPlans();
    await engine.addOns.create({ name: "Support", type: "FIXED_FEE" });
    expect(engine.work()).toEqual(["read", "read"]);
    await engine.settings.create({ id: "factor", value: "2" });
    expect(engine.work()).toEqual(["read", "check", "read", "check"]);
    await engine.eventSchemas.create({ name: "visit" });
    expect(engine.work()).toEqual(["read", "check", "read", "check"]);
    await engine.pricePlans.activate(plans[3] ?? "");
    expect(engine.work()).toEqual(["read plan", "check plan", "read plan", "check plan"]);
    await engine.pricePlans.list({ page: { limit: 100 } });
    expect(engine.work()).toEqual([]);
  });

  test("compiles the event schemas that it affects", async () => {
    const { engine } = await engineWithPlans();
    const before = { call: await engine.slotsOf("call"), job: await engine.slotsOf("job") };
    await engine.usageMeters.activate(await sumMeter(engine, "jobs", "job"));
    expect(await engine.slotsOf("call")).toBe(before.call);
    expect(await engine.slotsOf("job")).not.toBe(before.job);
  });

  test("by another engine is read alone, whether the documents are the same objects or copies", async () => {
    const { engine, store, plans } = await engineWithPlans();
    const other = engineOver(store);
    await other.pricePlans.list();
    expect(other.work().filter((work) => work === "read plan")).toHaveLength(PLANS);
    await other.pricePlans.update(plans[0] ?? "", { description: "Another" });
    await engine.pricePlans.list();
    expect(engine.work()).toEqual(["read plan", "check plan"]);
    // Reading from a database returns copies.
    const { read } = store;
    const allDocuments: typeof read.allDocuments = async (kind) => structuredClone(await read.allDocuments(kind));
    const copying = { ...read, allDocuments };
    const third = engineOver({ ...store, read: copying });
    await third.pricePlans.list();
    third.work();
    await engine.addOns.create({ name: "Support", type: "FIXED_FEE" });
    await third.pricePlans.list();
    expect(third.work()).toEqual(["read"]);
  });

  test("gets a new revision even when it restores an earlier state", () => {
    const revisions = Array.from({ length: 20 }, () => revisionAfter(7));
    expect(Math.min(...revisions)).toBeGreaterThan(7);
    expect(new Set(revisions).size).toBeGreaterThan(1);
  });
});
