/** Retention: old events of closed cycles are deleted; their results stay. */
import { describe, expect, test } from "vitest";

import { createEngine, type Engine, type EngineOptions } from "../../../src/engine/engine.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import { linesOfType } from "../../support/invoice-lines.ts";
import { callBook, callEvent, type ClockedEngine, loadedAt } from "../support.ts";

const DAY = 86_400_000;
const KEPT = 60 * DAY;

/** An engine that keeps events for 60 days, with an event of 5 calls on 10 March of an account that pays 2 for each. */
async function withMarch(
  options: Pick<EngineOptions, "keepEventsMs"> = { keepEventsMs: KEPT },
): Promise<ClockedEngine> {
  const clocked = await loadedAt("2024-03-01", callBook(["a"], { usage: [{ meter: "calls", rate: 2 }] }), options);
  await clocked.at("2024-03-10").ingest([callEvent("march", "2024-03-10T00:00:00Z", 5, "a")]);
  return clocked;
}

async function storedIds(engine: Engine): Promise<readonly string[]> {
  return (await engine.events.list()).items.map(({ eventId }) => eventId).toSorted();
}

describe("events with a retention of 60 days", () => {
  test("S6.5 S14.1 are deleted when they are older and their cycle is closed; invoices and usage stay", async () => {
    const { engine, at } = await withMarch();
    await at("2024-04-10").ingest([callEvent("april", "2024-04-10T00:00:00Z", 7, "a")]);
    await at("2024-05-08T23:59:59Z").finalize();
    expect(await engine.pruneEvents()).toEqual({ pruned: 0 });
    // 9 May is the 60th day after 10 March.
    expect(await at("2024-05-09T00:00:00.001Z").pruneEvents()).toEqual({ pruned: 1 });
    expect(await storedIds(engine)).toEqual(["april"]);
    expect(await engine.pruneEvents()).toEqual({ pruned: 0 });
    const usage = await engine.usage({ accountIds: ["a"], from: "2024-03-01", until: "2024-05-01" });
    expect(usage.map(({ date, quantity }) => [date, quantity.toFixed()])).toEqual([
      ["2024-03-10", "5"],
      ["2024-04-10", "7"],
    ]);
    const { items } = await engine.invoices.list({ filter: { accountId: "a" } });
    const totals = items.map(({ invoice: { startDate, revenueInfo } }) => [startDate, revenueInfo.value.toFixed()]);
    expect(totals).toEqual([
      ["2024-04-01T00:00:00.000Z", "14"],
      ["2024-03-01T00:00:00.000Z", "10"],
    ]);
  });

  test("S18.1 S18.6 leave the usage of their groups, and the lines of its price table", async () => {
    const rows = [{ when: { region: "eu" }, rate: 3 }, { rate: 1 }];
    const book = {
      ...callBook(["a"], { usage: [{ meter: "calls", rateTable: { rows } }] }),
      usageMeters: [{ id: "calls", schema: "call", sum: "count", groupBy: ["region"] }],
    };
    const { engine, at } = await loadedAt("2024-03-01", book, { keepEventsMs: KEPT });
    const events = [5, 7, 2].map((count, index) => callEvent(`e${index}`, "2024-03-10T00:00:00Z", count, "a"));
    await at("2024-03-10").ingest(
      events.map((event, index) => ({ ...event, dimensions: { region: index < 2 ? "eu" : "us" } })),
    );
    await at("2024-06-01").finalize();
    expect(await engine.pruneEvents()).toEqual({ pruned: 3 });
    const usage = await engine.usage({ accountIds: ["a"], from: "2024-03-01", until: "2024-05-01" });
    expect(usage.map(({ group, quantity }) => [group, quantity.toFixed()])).toEqual([
      [{ region: "eu" }, "12"],
      [{ region: "us" }, "2"],
    ]);
    const { items } = await engine.invoices.list({ filter: { accountId: "a" } });
    const lines = items.flatMap(({ invoice }) => linesOfType(invoice, "USAGE_RATE_CARD_SLAB_AMOUNT"));
    expect(lines.map(({ quantity, value }) => [quantity?.toFixed(), value.toFixed()])).toEqual([
      ["12", "36"],
      ["2", "2"],
    ]);
  });

  test("S14.1 reserve their ids until their cycle is closed; after that an id can be used by another event", async () => {
    const { engine, at } = await withMarch();
    const again = async (time: string): Promise<string | undefined> =>
      (await at(time).ingest([callEvent("march", time, 1, "a")]))[0]?.status;
    expect(await again("2024-04-10T00:00:00Z")).toBe("INGESTION_FAILED_DUPLICATE_EVENT");
    await at("2024-06-01").finalize();
    expect(await engine.pruneEvents()).toEqual({ pruned: 1 });
    expect(await again("2024-06-02T00:00:00Z")).toBe("INGESTION_COMPLETED_EVENT_METERED");
  });

  test("S6.5 stay while their cycle is not billed, and if no plan closes it", async () => {
    const { engine, at } = await withMarch();
    await engine.ingest([
      callEvent("before any plan", "2024-02-10T00:00:00Z", 5, "a"),
      callEvent("failed", "2024-03-10T00:00:00Z", 5, "nobody"),
    ]);
    // The account is behind until the bill run: everything except failed events stays.
    expect(await at("2024-06-01").pruneEvents()).toEqual({ pruned: 1 });
    await engine.finalize();
    expect(await engine.pruneEvents()).toEqual({ pruned: 1 });
    expect(await storedIds(engine)).toEqual(["before any plan"]);
    const undone = await engine.undo({ account: "a", eventId: "before any plan" });
    expect(undone.map(({ status }) => status)).toEqual(["REVERTED"]);
    expect(await engine.pruneEvents()).toEqual({ pruned: 1 });
  });

  test("S11.8 an entry can't end at or before an event that consumed it, even after the event was deleted", async () => {
    const plan = {
      id: "p",
      cycle: "MONTHLY",
      entitlements: [{ feature: "ft", quantity: 20, for: "P6M", rate: 1 }],
    } as const;
    const book = {
      eventSchemas: [{ name: "call", attributes: ["count"], dimensions: ["region"] }],
      features: [{ id: "ft", name: "Calls", schemaAssociations: [{ schemaName: "call", attributeName: "count" }] }],
      pricePlans: [plan],
      accounts: [{ id: "prod", plan: "p", from: "2024-03-01" }],
    };
    const { engine, at } = await loadedAt("2024-03-01", book, { keepEventsMs: KEPT });
    await at("2024-03-10").ingest([callEvent("spent", "2024-03-10T00:00:00Z", 5)]);
    await at("2024-06-01").finalize();
    expect(await engine.pruneEvents()).toEqual({ pruned: 1 });
    const of = { accountId: "prod", featureId: "ft" };
    const [entry] = (await engine.entries.list(of)).items.filter(({ granted, balance }) => !granted.eq(balance));
    const ending = async (effectiveUntil: string): Promise<unknown> =>
      engine.entries.update({ ...of, entryId: entry?.id ?? "" }, { effectiveUntil });
    await expect(ending("2024-03-10T00:00:00Z")).rejects.toMatchObject({
      message: "effectiveUntil: expected a time after 2024-03-10T00:00:00.000Z, when an event last used the entry",
    });
    await expect(ending("2024-03-10T00:00:00.001Z")).resolves.toMatchObject({ status: "EXPIRED" });
  });

  test("S6.5 S14.1 are not accepted again when their account gets a longer grace period: their cycles stay closed", async () => {
    const fees = [{ id: "base", rate: 10, timing: "IN_ADVANCE" }] as const;
    const { engine, at } = await loadedAt("2024-03-01", callBook(["p"], { usage: [], fees }), { keepEventsMs: KEPT });
    const event = callEvent("april", "2024-04-10T00:00:00Z", 5, "p");
    await at("2024-04-10").ingest([event]);
    await at("2024-06-15").finalize();
    expect(await engine.pruneEvents()).toEqual({ pruned: 1 });
    const group = { name: "Slow", email: "slow@example.com", dailyInvoiceConsolidation: false, gracePeriod: 400 };
    await engine.invoiceGroups.create({ ...group, accountIds: ["p"] });
    const again = await engine.ingest([event, callEvent("late", "2024-05-30T00:00:00Z", 1, "p")]);
    expect(again.map(({ status }) => status)).toEqual([
      "INGESTION_FAILED_PAST_GRACE_PERIOD",
      "INGESTION_FAILED_PAST_GRACE_PERIOD",
    ]);
    const usage = await engine.usage({ accountIds: ["p"], from: "2024-03-01", until: "2024-06-15" });
    expect(usage.map(({ quantity }) => quantity.toFixed())).toEqual(["5"]);
    // The cycle that was open when the account joined the group has the group's grace period.
    const [june] = await at("2024-07-20").ingest([callEvent("june", "2024-06-02T00:00:00Z", 1, "p")]);
    expect(june?.status).toBe("INGESTION_COMPLETED_EVENT_METERED");
  });

  test("are deleted once if two servers do it at the same time", async () => {
    const { engine, at } = await withMarch();
    await at("2024-06-01").finalize();
    const both = await Promise.all([engine.pruneEvents(), engine.pruneEvents()]);
    expect(both.map(({ pruned }) => pruned).toSorted((one, other) => one - other)).toEqual([0, 1]);
  });

  test("S15.1 a deleted event is reported as no longer stored, and can't be undone", async () => {
    const { engine, at } = await withMarch();
    await at("2024-06-01").finalize();
    await engine.pruneEvents();
    await expect(engine.events.get("march")).rejects.toMatchObject({
      code: "ERR_NOT_FOUND",
      message:
        'no event has the id "march"; events that were ingested before 2024-04-02T00:00:00.000Z are stored only while their billing period is open',
    });
    expect(await engine.undo({ account: "a", eventId: "march" })).toEqual([]);
    expect(await engine.events.keptSince()).toBe(Date.parse("2024-04-02T00:00:00Z"));
  });

  test("S14.2 metrics from events reject times whose events may be deleted, whatever the current setting; daily sums stay", async () => {
    const { engine, at } = await withMarch();
    await at("2024-05-31T10:00:00Z").ingest([callEvent("may", "2024-05-31T10:00:00Z", 7, "a")]);
    type Query = Parameters<Engine["metrics"]>[0]["metricQueries"][number];
    const values = async (startTime: string, query: Omit<Query, "id">): Promise<readonly string[]> => {
      const metricQueries = [{ id: "q", ...query }];
      const [result] = await engine.metrics({ startTime, endTime: "2024-06-01T00:00:00Z", metricQueries });
      const points = result?.series.flatMap((series) => series.points) ?? [];
      return points.map(({ value }) => value.toFixed()).filter((value) => value !== "0");
    };
    const usage = { name: "USAGE", aggregationPeriod: "MONTH" } as const;
    const byStatus = { ...usage, groupBy: "EVENT_STATUS" } as const;
    await at("2024-06-01").finalize();
    expect(await values("2024-03-01T00:00:00Z", byStatus)).toEqual(["5", "7"]);
    expect(await engine.pruneEvents()).toEqual({ pruned: 1 });
    // Events ingested before 2 April may be deleted: they were dated up to a day later.
    const first = "2024-04-03T00:00:00.000Z";
    const why = "metricQueries[0] is computed from stored events, and older events were deleted";
    const message = `startTime: ${why}; start at ${first} or later`;
    for (const query of [
      byStatus,
      { name: "EVENTS", aggregationPeriod: "MONTH" },
      { ...usage, filters: [{ fieldName: "EVENT_STATUS", fieldValues: ["INGESTION_COMPLETED_EVENT_METERED"] }] },
    ] as const) {
      await expect(values("2024-04-02T23:59:59Z", query)).rejects.toMatchObject({ code: "ERR_INPUT_INVALID", message });
      expect(await values(first, query)).toHaveLength(1);
    }
    for (const name of ["USAGE", "REVENUE"] as const) {
      expect(await values("2024-03-01T00:00:00Z", { name, aggregationPeriod: "MONTH" })).toHaveLength(2);
    }
  });

  test("are kept forever by default, and never shorter than their ids are remembered", async () => {
    const { engine, at } = await withMarch({});
    expect(await at("2034-06-01").pruneEvents()).toEqual({ pruned: 0 });
    expect(await engine.events.keptSince()).toBeUndefined();
    for (const keepEventsMs of [44 * DAY, Number.NaN, -1, 1.5]) {
      expect(() => createEngine({ store: memoryStore(), keepEventsMs })).toThrow(/^keepEventsMs: expected/);
    }
  });
});
