/** Rules that exceed their budget: rejected when they are saved; stored ones stay manageable (S3.8). */
import { describe, expect, test } from "vitest";

import type { UsageMeterRequest } from "../../src/book/resources/event-schema.ts";
import { createEngine, type Engine } from "../../src/engine/engine.ts";
import { type MemoryStore, memoryStore } from "../../src/store/memory/memory.ts";
import { pausesDuring } from "./billing/overdue-account.ts";
import { activeSchema, callEvent, customerWith, describeRefusal } from "./support.ts";

/** 200 elements, and a body of 63 nodes for each: 12,600 steps at least. The result is 200 × (1 + 60). */
const HEAVY = {
  reduce: [
    Array.from({ length: 200 }, () => 1),
    { "+": [{ var: "accumulator" }, { var: "current" }, ...Array.from({ length: 60 }, () => 1)] },
    0,
  ],
};

const june15 = (): number => Date.parse("2024-06-15T12:00:00Z");

function heavyMeter(eventSchemaName: string): UsageMeterRequest {
  return { name: "heavy", aggregation: "SUM", eventSchemaName, computations: [{ order: 1, computation: HEAVY }] };
}

/**
 * A store with a heavy meter on the counting schema `call`, created by an engine with a larger budget, and a light one.
 */
async function storeWithHeavyRule(): Promise<{ readonly store: MemoryStore; readonly heavy: string }> {
  const store = memoryStore();
  const engine = createEngine({ store, clock: june15, ruleBudget: { steps: 100_000 } });
  await activeSchema(engine);
  await activeSchema(engine, "ping");
  await customerWith(engine);
  const { item } = await engine.usageMeters.create(heavyMeter("call"));
  await engine.usageMeters.activate(item.id);
  const light = {
    name: "pings",
    aggregation: "COUNT",
    eventSchemaName: "ping",
    computations: [{ order: 1, matcher: true }],
  } as const;
  const { item: pings } = await engine.usageMeters.create(light);
  await engine.usageMeters.activate(pings.id);
  return { store, heavy: item.id };
}

async function statusesOf(engine: Engine, ids: readonly (readonly [string, string])[]): Promise<readonly string[]> {
  const events = ids.map(([id, schemaName]) => ({ ...callEvent(id, "2024-06-15T00:00:00Z"), schemaName }));
  return (await engine.ingest(events)).map(({ status }) => status);
}

describe("S3.8 a rule whose minimum work exceeds its budget", () => {
  test("is rejected when it is saved, with its path and the budget; nothing is stored", async () => {
    const engine = createEngine({ store: memoryStore(), clock: june15 });
    await activeSchema(engine);
    const refusal = await describeRefusal(engine.usageMeters.create(heavyMeter("call")));
    expect(refusal).toMatch(/^ERR_INPUT_INVALID computations\[0\]\.computation/);
    expect(refusal).toContain("budget of 10,000 steps");
    expect((await engine.usageMeters.list()).items).toEqual([]);
  });

  test("is accepted by an engine with a larger budget, and counts there", async () => {
    const { store } = await storeWithHeavyRule();
    const engine = createEngine({ store, clock: june15, ruleBudget: { steps: 100_000 } });
    expect(await statusesOf(engine, [["a", "call"]])).toEqual(["INGESTION_COMPLETED_EVENT_NOT_BILLED"]);
    const usage = await engine.usage({ accountIds: ["prod"], from: "2024-06-15", until: "2024-06-16" });
    expect(usage.map(({ quantity }) => quantity.toNumber())).toEqual([12_200]);
  });

  test("fails only its own events where it is stored, and stays readable", async () => {
    const { store, heavy } = await storeWithHeavyRule();
    const engine = createEngine({ store, clock: june15 });
    expect(
      await statusesOf(engine, [
        ["a", "call"],
        ["b", "ping"],
        ["c", "call"],
      ]),
    ).toEqual([
      "INGESTION_FAILED_UNITS_INVALID",
      "INGESTION_COMPLETED_EVENT_NOT_BILLED",
      "INGESTION_FAILED_UNITS_INVALID",
    ]);
    const [failure] = await engine.events.get("a");
    expect(failure?.description).toContain("budget of 10,000 steps");
    expect((await engine.usageMeters.get(heavy)).input["computations"]).toEqual(heavyMeter("call")["computations"]);
    expect((await engine.usageMeters.list()).items).toHaveLength(2);
  });

  test("can be deactivated and archived where it is stored", async () => {
    const { store, heavy } = await storeWithHeavyRule();
    const engine = createEngine({ store, clock: june15 });
    expect((await engine.usageMeters.deactivate(heavy)).item.status).toBe("INACTIVE");
    expect((await engine.usageMeters.archive(heavy)).item.status).toBe("ARCHIVED");
    expect(await statusesOf(engine, [["a", "call"]])).toEqual(["INGESTION_COMPLETED_NO_MATCHING_METERS"]);
  });
});

describe("S3.8 many rules", () => {
  /** Computations of 9,802 steps each: 200 elements, a body of 48 nodes for each, and two nodes around them. */
  const meterOf = (computations: number): UsageMeterRequest => {
    const sum = { "+": [{ var: "accumulator" }, { var: "current" }, ...Array.from({ length: 45 }, () => 1)] };
    const computation = { reduce: [Array.from({ length: 200 }, () => 1), sum, 0] };
    return {
      ...heavyMeter("call"),
      computations: Array.from({ length: computations }, (_, at) => ({ order: at + 1, computation })),
    };
  };

  test.each([
    [5, "INGESTION_COMPLETED_EVENT_NOT_BILLED", undefined],
    [6, "INGESTION_FAILED_UNITS_INVALID", "the rules of the event take more than their budget of 50,000 steps"],
  ])("%i of one event together: %s", async (computations, status, reason) => {
    const engine = createEngine({ store: memoryStore(), clock: june15 });
    await activeSchema(engine);
    await customerWith(engine);
    await engine.usageMeters.activate((await engine.usageMeters.create(meterOf(computations))).item.id);
    for (const id of ["a", "b"]) {
      expect(await statusesOf(engine, [[id, "call"]])).toEqual([status]);
      const [event] = await engine.events.get(id);
      if (reason !== undefined) expect(event?.description).toContain(reason);
    }
  });

  test("are checked one after another when they are saved, and yield to other requests", async () => {
    const engine = createEngine({ store: memoryStore(), clock: june15 });
    await activeSchema(engine);
    const pausesOf = async (computations: number): Promise<number> =>
      pausesDuring(async () => engine.usageMeters.create({ ...meterOf(computations), name: `m${computations}` }));
    const [pausesOfFew, pausesOfMany] = [await pausesOf(1), await pausesOf(31)];
    expect(pausesOfMany - pausesOfFew).toBeGreaterThanOrEqual(30);
  });
});

test("S14.3 a batch whose rules do much work for each event yields to other requests", async () => {
  const engine = createEngine({ store: memoryStore(), clock: june15 });
  await activeSchema(engine);
  await customerWith(engine);
  const long = "1.2345678901234567890123456789";
  let body: unknown = { var: "" };
  for (let times = 0; times < 20; times++) body = { "/": [{ "+": [body, long] }, long] };
  const mapRule = { map: [Array.from({ length: 60 }, () => 1), body] };
  const computation = { reduce: [mapRule, { "+": [{ var: "accumulator" }, { var: "current" }] }, 0] } as never;
  const meter = { ...heavyMeter("call"), computations: [{ order: 1, computation }] };
  await engine.usageMeters.activate((await engine.usageMeters.create(meter)).item.id);
  const events = Array.from({ length: 60 }, (_, place) => callEvent(`e${place}`, "2024-06-15T00:00:00Z", 1));
  let results: readonly { readonly status: string }[] = [];
  const pauses = await pausesDuring(async () => (results = await engine.ingest(events)));
  expect(new Set(results.map(({ status }) => status))).toEqual(new Set(["INGESTION_COMPLETED_EVENT_NOT_BILLED"]));
  expect(pauses).toBeGreaterThan(10);
});
