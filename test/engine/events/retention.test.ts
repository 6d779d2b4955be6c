/** Retention: old events of closed cycles are deleted; their results stay. */
import { describe, expect, test } from "vitest";

import { createEngine, type Engine, type EngineOptions } from "../../../src/engine/engine.ts";
import type { EventInput } from "../../../src/metering/event-envelope.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import { perUnit } from "../../book/builder.ts";
import { linesOfType } from "../../support/invoice-lines.ts";
import { activeSchema, callEvent, customerWith, monthly, sumMeter } from "../support.ts";

const DAY = 86_400_000;
const KEPT = 60 * DAY;

/**
 * An engine that keeps events for 60 days, and an account on a monthly plan from March on; tests set the clock by date.
 */
async function keeping(options: Pick<EngineOptions, "keepEventsMs"> = { keepEventsMs: KEPT }): Promise<{
  readonly engine: Engine;
  readonly setClock: (time: string) => Engine;
}> {
  const clock = { now: Date.parse("2024-03-01T00:00:00Z") };
  const engine = createEngine({
    store: memoryStore(),
    clock: () => clock.now,
    ...options,
  });
  await activeSchema(engine);
  await customerWith(engine, "a");
  const usageMeterId = await sumMeter(engine);
  await engine.usageMeters.activate(usageMeterId);
  const { item: plan } = await engine.pricePlans.create({
    name: "Team",
    pricePlanDetails: monthly(usageMeterId, 2),
  });
  await engine.pricePlans.activate(plan.id);
  await engine.associate("a", { pricePlanId: plan.id, effectiveFrom: "2024-03-01" });
  const setClock = (time: string): Engine => {
    clock.now = Date.parse(time);
    return engine;
  };
  return { engine, setClock };
}

/** Like {@link keeping}, with the account `t` that has 20 tokens a month, of which an event consumed 5 on 10 March. */
async function spending(): ReturnType<typeof keeping> {
  const retention = await keeping();
  const { engine, setClock } = retention;
  await engine.eventSchemas.create({ name: "token", attributes: [{ name: "count" }] });
  await engine.eventSchemas.activate("token");
  const schemaAssociations = [{ schemaName: "token", attributeName: "count" }];
  const { item: feature } = await engine.features.create({ name: "Tokens", schemaAssociations });
  await engine.accounts.create({ id: "t", name: "Tokens", customerId: "acme" });
  const featureConfigs = [{ featureCreditLimit: 20, effectiveUntil: "P6M" }];
  const card = { featureId: feature.id, featureConfigs, ...perUnit(1) };
  const { item: plan } = await engine.pricePlans.create({
    name: "Tokens",
    pricePlanDetails: { ...monthly(), billingEntitlementRateCards: [card] },
  });
  await engine.pricePlans.activate(plan.id);
  await engine.associate("t", { pricePlanId: plan.id, effectiveFrom: "2024-03-01" });
  await setClock("2024-03-10T00:00:00Z").ingest([token("spent", "2024-03-10T00:00:00Z", 5)]);
  await setClock("2024-06-01T00:00:00Z").finalize();
  return retention;
}

function token(id: string, timestamp: string, count: number): EventInput {
  return {
    schemaName: "token",
    id,
    accountId: "t",
    timestamp,
    attributes: [{ name: "count", value: count }],
    dimensions: {},
  };
}

async function storedIds(engine: Engine): Promise<readonly string[]> {
  return (await engine.events.list()).items.map(({ eventId }) => eventId).toSorted();
}

describe("events with a retention of 60 days", () => {
  test("S6.5 S14.1 are deleted when they are older and their cycle is closed; invoices and usage stay", async () => {
    const { engine, setClock } = await keeping();
    await setClock("2024-03-10T00:00:00Z").ingest([callEvent("march", "2024-03-10T00:00:00Z", 5, "a")]);
    await setClock("2024-04-10T00:00:00Z").ingest([callEvent("april", "2024-04-10T00:00:00Z", 7, "a")]);
    await setClock("2024-05-08T23:59:59Z").finalize();
    expect(await engine.pruneEvents()).toEqual({ pruned: 0 });
    // 9 May is the 60th day after 10 March.
    expect(await setClock("2024-05-09T00:00:00.001Z").pruneEvents()).toEqual({ pruned: 1 });
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
    let now = Date.parse("2024-03-01T00:00:00Z");
    const engine = createEngine({ store: memoryStore(), clock: () => now, keepEventsMs: KEPT });
    await engine.load({
      eventSchemas: [{ name: "call", attributes: ["tokens"], dimensions: ["model"] }],
      usageMeters: [{ id: "tokens", schema: "call", sum: "tokens", groupBy: ["model"] }],
      pricePlans: [
        {
          id: "pp",
          cycle: "MONTHLY",
          usage: [{ meter: "tokens", rateTable: { rows: [{ when: { model: "large" }, rate: 3 }, { rate: 1 }] } }],
        },
      ],
      accounts: [{ id: "acme", plan: "pp", from: "2024-03-01" }],
    });
    const timestamp = "2024-03-10T00:00:00Z";
    now = Date.parse(timestamp);
    await engine.ingest(
      [5, 7, 2].map((tokens, index) => {
        const dimensions = { model: index < 2 ? "large" : "small" };
        return {
          schemaName: "call",
          id: `e${index}`,
          accountId: "acme",
          timestamp,
          attributes: { tokens },
          dimensions,
        };
      }),
    );
    now = Date.parse("2024-06-01T00:00:00Z");
    await engine.finalize();
    expect(await engine.pruneEvents()).toEqual({ pruned: 3 });
    const usage = await engine.usage({ accountIds: ["acme"], from: "2024-03-01", until: "2024-05-01" });
    expect(usage.map(({ group, quantity }) => [group, quantity.toFixed()])).toEqual([
      [{ model: "large" }, "12"],
      [{ model: "small" }, "2"],
    ]);
    const { items } = await engine.invoices.list({ filter: { accountId: "acme" } });
    const lines = items.flatMap(({ invoice }) => linesOfType(invoice, "USAGE_RATE_CARD_SLAB_AMOUNT"));
    expect(lines.map(({ quantity, value }) => [quantity?.toFixed(), value.toFixed()])).toEqual([
      ["12", "36"],
      ["2", "2"],
    ]);
  });

  test("S14.1 reserve their ids until their cycle is closed; after that an id can be used by another event", async () => {
    const { engine, setClock } = await keeping();
    await setClock("2024-03-10T00:00:00Z").ingest([callEvent("e", "2024-03-10T00:00:00Z", 5, "a")]);
    const again = async (time: string): Promise<string | undefined> =>
      (await setClock(time).ingest([callEvent("e", time, 1, "a")]))[0]?.status;
    expect(await again("2024-04-10T00:00:00Z")).toBe("INGESTION_FAILED_DUPLICATE_EVENT");
    await setClock("2024-06-01T00:00:00Z").finalize();
    expect(await engine.pruneEvents()).toEqual({ pruned: 1 });
    expect(await again("2024-06-02T00:00:00Z")).toBe("INGESTION_COMPLETED_EVENT_METERED");
  });

  test("S6.5 stay while their cycle is not billed, and if no plan closes it", async () => {
    const { engine, setClock } = await keeping();
    await setClock("2024-03-10T00:00:00Z").ingest([
      callEvent("billed", "2024-03-10T00:00:00Z", 5, "a"),
      callEvent("before any plan", "2024-02-10T00:00:00Z", 5, "a"),
      callEvent("failed", "2024-03-10T00:00:00Z", 5, "nobody"),
    ]);
    // The account is behind until the bill run: everything except failed events stays.
    expect(await setClock("2024-06-01T00:00:00Z").pruneEvents()).toEqual({ pruned: 1 });
    await engine.finalize();
    expect(await engine.pruneEvents()).toEqual({ pruned: 1 });
    expect(await storedIds(engine)).toEqual(["before any plan"]);
    const undone = await engine.undo({ account: "a", eventId: "before any plan" });
    expect(undone.map(({ status }) => status)).toEqual(["REVERTED"]);
    expect(await engine.pruneEvents()).toEqual({ pruned: 1 });
  });

  test("S11.8 an entry can't end at or before an event that consumed it, even after the event was deleted", async () => {
    const { engine, setClock } = await spending();
    expect(await setClock("2024-06-01T00:00:00Z").pruneEvents()).toEqual({ pruned: 1 });
    const [feature] = (await engine.features.list()).items;
    const of = { accountId: "t", featureId: feature?.item.id ?? "" };
    const [entry] = (await engine.entries.list(of)).items.filter(({ granted, balance }) => !granted.eq(balance));
    const ending = async (effectiveUntil: string): Promise<unknown> =>
      engine.entries.update({ ...of, entryId: entry?.id ?? "" }, { effectiveUntil });
    await expect(ending("2024-03-10T00:00:00Z")).rejects.toMatchObject({
      message: "effectiveUntil: expected a time after 2024-03-10T00:00:00.000Z, when an event last used the entry",
    });
    await expect(ending("2024-03-10T00:00:00.001Z")).resolves.toMatchObject({ status: "EXPIRED" });
  });

  test("S6.5 S14.1 are not accepted again when their account gets a longer grace period: their cycles stay closed", async () => {
    const { engine, setClock } = await keeping();
    const { item: base } = await engine.addOns.create({ name: "Base", type: "FIXED_FEE" });
    const rateValues = [{ currency: "USD", rate: 10 }];
    const fixedFeeRateCards = [{ id: base.id, rateValues, invoiceTiming: "IN_ADVANCE" as const }];
    const pricePlanDetails = { ...monthly(), fixedFeeRateCards };
    const { item: plan } = await engine.pricePlans.create({ name: "Advance", pricePlanDetails });
    await engine.pricePlans.activate(plan.id);
    await engine.accounts.create({ id: "p", name: "Prepaid", customerId: "acme" });
    await engine.associate("p", { pricePlanId: plan.id, effectiveFrom: "2024-03-01" });
    const event = callEvent("april", "2024-04-10T00:00:00Z", 5, "p");
    await setClock("2024-04-10T00:00:00Z").ingest([event]);
    await setClock("2024-06-15T00:00:00Z").finalize();
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
    const [june] = await setClock("2024-07-20T00:00:00Z").ingest([callEvent("june", "2024-06-02T00:00:00Z", 1, "p")]);
    expect(june?.status).toBe("INGESTION_COMPLETED_EVENT_METERED");
  });

  test("are deleted once if two servers do it at the same time", async () => {
    const { engine, setClock } = await keeping();
    await setClock("2024-03-10T00:00:00Z").ingest([callEvent("march", "2024-03-10T00:00:00Z", 5, "a")]);
    await setClock("2024-06-01T00:00:00Z").finalize();
    const both = await Promise.all([engine.pruneEvents(), engine.pruneEvents()]);
    expect(both.map(({ pruned }) => pruned).toSorted((one, other) => one - other)).toEqual([0, 1]);
  });

  test("S15.1 a deleted event is reported as no longer stored, and can't be undone", async () => {
    const { engine, setClock } = await keeping();
    await setClock("2024-03-10T00:00:00Z").ingest([callEvent("e", "2024-03-10T00:00:00Z", 5, "a")]);
    await setClock("2024-06-01T00:00:00Z").finalize();
    await engine.pruneEvents();
    await expect(engine.events.get("e")).rejects.toMatchObject({
      code: "ERR_NOT_FOUND",
      message:
        'no event has the id "e"; events that were ingested before 2024-04-02T00:00:00.000Z are stored only while their billing period is open',
    });
    expect(await engine.undo({ account: "a", eventId: "e" })).toEqual([]);
    expect(await engine.events.keptSince()).toBe(Date.parse("2024-04-02T00:00:00Z"));
  });

  test("S14.2 metrics from events reject times whose events may be deleted, whatever the current setting; daily sums stay", async () => {
    const { engine, setClock } = await keeping();
    await setClock("2024-03-10T00:00:00Z").ingest([callEvent("march", "2024-03-10T00:00:00Z", 5, "a")]);
    await setClock("2024-05-31T10:00:00Z").ingest([callEvent("may", "2024-05-31T10:00:00Z", 7, "a")]);
    type Query = Parameters<Engine["metrics"]>[0]["metricQueries"][number];
    const values = async (startTime: string, query: Omit<Query, "id">): Promise<readonly string[]> => {
      const metricQueries = [{ id: "q", ...query }];
      const [result] = await engine.metrics({ startTime, endTime: "2024-06-01T00:00:00Z", metricQueries });
      const points = result?.series.flatMap((series) => series.points) ?? [];
      return points.map(({ value }) => value.toFixed()).filter((value) => value !== "0");
    };
    const usage = { name: "USAGE", aggregationPeriod: "MONTH" } as const;
    const byStatus = { ...usage, groupBy: "EVENT_STATUS" } as const;
    await setClock("2024-06-01T00:00:00Z").finalize();
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
    const { engine, setClock } = await keeping({});
    await setClock("2024-03-10T00:00:00Z").ingest([callEvent("e", "2024-03-10T00:00:00Z", 5, "a")]);
    expect(await setClock("2034-06-01T00:00:00Z").pruneEvents()).toEqual({ pruned: 0 });
    expect(await engine.events.keptSince()).toBeUndefined();
    for (const keepEventsMs of [44 * DAY, Number.NaN, -1, 1.5]) {
      expect(() => createEngine({ store: memoryStore(), keepEventsMs })).toThrow(/^keepEventsMs: expected/);
    }
  });
});
