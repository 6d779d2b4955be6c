/** Rules that exceed their budget: rejected when they are saved; stored ones stay manageable (S3.8). */
import { describe, expect, test } from "vitest";

import type { UsageMeterRequest } from "../../src/book/resources/event-schema.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import { pausesDuring } from "./billing/overdue-account.ts";
import {
  activeSchema,
  callEvent,
  collectStatuses,
  customerWith,
  describeRefusal,
  engineAt,
  listUsage,
} from "./support.ts";

const JUNE_15 = "2024-06-15T12:00:00Z";
const NOT_BILLED = "INGESTION_COMPLETED_EVENT_NOT_BILLED";
const INVALID = "INGESTION_FAILED_UNITS_INVALID";
const ones = (length: number): number[] => Array.from({ length }, () => 1);

/** Sums this many terms for each of 200 elements: a step for each term and two more, 200 times, and two around them. */
const sumRule = (terms: number): object => {
  const body = { "+": [{ var: "accumulator" }, { var: "current" }, ...ones(terms)] };
  return { reduce: [ones(200), body, 0] };
};
/** 12,600 steps at least. The result is 200 × (1 + 60). */
const HEAVY = sumRule(60);

const meterOf = (name: string, ...computations: readonly object[]): UsageMeterRequest => ({
  name,
  aggregation: "SUM",
  eventSchemaName: "call",
  computations: computations.map((computation, at) => ({ order: at + 1, computation })),
});

async function activateMeter(engine: Engine, request: UsageMeterRequest): Promise<string> {
  const { item } = await engine.usageMeters.create(request);
  await engine.usageMeters.activate(item.id);
  return item.id;
}

/** An engine with the schema `call` and an account. */
async function createSubject(ruleBudget?: { readonly steps: number }): Promise<ReturnType<typeof engineAt>> {
  const subject = engineAt(JUNE_15, memoryStore(), ruleBudget && { ruleBudget });
  await activeSchema(subject.engine);
  await customerWith(subject.engine);
  return subject;
}

const callOf = (id: string, schemaName = "call"): ReturnType<typeof callEvent> => ({
  ...callEvent(id, "2024-06-15T00:00:00Z"),
  schemaName,
});

describe("S3.8 a rule whose minimum work exceeds its budget", () => {
  test("is rejected when it is saved, with its path and the budget; nothing is stored", async () => {
    const { engine } = await createSubject();
    const refusal = await describeRefusal(engine.usageMeters.create(meterOf("heavy", HEAVY)));
    expect(refusal).toMatch(/^ERR_INPUT_INVALID computations\[0\]\.computation/);
    expect(refusal).toContain("budget of 10,000 steps");
    expect((await engine.usageMeters.list()).items).toEqual([]);
  });

  test("counts in an engine with a larger budget; elsewhere it fails only its own events, and can be archived", async () => {
    const { engine: larger, store } = await createSubject({ steps: 100_000 });
    await activeSchema(larger, "ping");
    const heavy = await activateMeter(larger, meterOf("heavy", HEAVY));
    const pings = { aggregation: "COUNT", eventSchemaName: "ping", computations: [{ order: 1 }] } as const;
    await activateMeter(larger, { name: "pings", ...pings });
    expect(await collectStatuses(larger, callOf("first"))).toEqual([NOT_BILLED]);
    expect(await listUsage(larger)).toEqual([`${heavy} 2024-06-15 12200`]);

    const { engine } = engineAt(JUNE_15, store);
    const statuses = await collectStatuses(engine, callOf("a"), callOf("b", "ping"), callOf("c"));
    expect(statuses).toEqual([INVALID, NOT_BILLED, INVALID]);
    expect((await engine.events.get("a"))[0]?.description).toContain("budget of 10,000 steps");
    expect((await engine.usageMeters.get(heavy)).input["computations"]).toEqual([{ order: 1, computation: HEAVY }]);
    expect((await engine.usageMeters.list()).items).toHaveLength(2);
    expect((await engine.usageMeters.deactivate(heavy)).item.status).toBe("INACTIVE");
    expect((await engine.usageMeters.archive(heavy)).item.status).toBe("ARCHIVED");
    expect(await collectStatuses(engine, callOf("d"))).toEqual(["INGESTION_COMPLETED_NO_MATCHING_METERS"]);
  });
});

describe("S3.8 many rules", () => {
  /** Computations of 9,802 steps each: 200 elements, a body of 48 nodes for each, and two nodes around them. */
  const listRules = (length: number): readonly object[] => Array.from({ length }, () => sumRule(45));

  test.each([
    [5, NOT_BILLED, undefined],
    [6, INVALID, "the rules of the event take more than their budget of 50,000 steps"],
  ])("%i of one event together: %s", async (computations, status, reason) => {
    const { engine } = await createSubject();
    await activateMeter(engine, meterOf("heavy", ...listRules(computations)));
    for (const id of ["a", "b"]) {
      expect(await collectStatuses(engine, callOf(id))).toEqual([status]);
      const [event] = await engine.events.get(id);
      if (reason !== undefined) expect(event?.description).toContain(reason);
    }
  });

  test("are checked one after another when they are saved, and yield to other requests", async () => {
    const { engine } = await createSubject();
    const countPauses = (computations: number): Promise<number> =>
      pausesDuring(async () => engine.usageMeters.create(meterOf(`m${computations}`, ...listRules(computations))));
    const [pausesOfFew, pausesOfMany] = [await countPauses(1), await countPauses(31)];
    expect(pausesOfMany - pausesOfFew).toBeGreaterThanOrEqual(30);
  });
});

test("S14.3 a batch whose rules do much work for each event yields to other requests", async () => {
  const { engine } = await createSubject();
  const long = "1.2345678901234567890123456789";
  let body: unknown = { var: "" };
  for (let times = 0; times < 20; times++) body = { "/": [{ "+": [body, long] }, long] };
  const sum = { "+": [{ var: "accumulator" }, { var: "current" }] };
  await activateMeter(engine, meterOf("heavy", { reduce: [{ map: [ones(60), body] }, sum, 0] }));
  const events = Array.from({ length: 60 }, (_, place) => callOf(`e${place}`));
  let statuses: readonly string[] = [];
  const pauses = await pausesDuring(async () => (statuses = await collectStatuses(engine, ...events)));
  expect(new Set(statuses)).toEqual(new Set([NOT_BILLED]));
  expect(pauses).toBeGreaterThan(10);
});
