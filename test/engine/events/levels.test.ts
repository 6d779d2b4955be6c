/** Levels that are carried over, in an engine: what may still change them, and what is read of them (S6.5, S19). */
import { expect, test } from "vitest";

import type { ShortBookInput } from "../../../src/book/resources/book.ts";
import { DAY_MS, dayOf, toInstant } from "../../../src/calendar/instant.ts";
import { createEngine, type Engine, type EngineOptions } from "../../../src/engine/engine.ts";
import type { EventInput } from "../../../src/metering/event-envelope.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import type { Store } from "../../../src/store/store.ts";
import type { GeneratedEvent } from "../../../src/testing/events-arbitrary.ts";
import { storeWithReads } from "../../support/stores.ts";
import { eventsSource } from "../external/events-source.ts";
import { type ClockedEngine, loadedAt } from "../support.ts";

type Plans = NonNullable<NonNullable<ShortBookInput["accounts"]>[number]["plans"]>;

/** An engine with a level priced at 1.00 a unit, and calls at 1.00. */
async function engineWith(
  plans: Plans,
  options: Pick<EngineOptions, "keepEventsMs" | "usage"> = {},
): Promise<ClockedEngine & { readonly store: Store }> {
  const store = memoryStore();
  const usage = ["storage", "calls"].map((meter) => ({ meter, rate: 1 }));
  const book = {
    eventSchemas: [{ name: "sample", attributes: ["value"] }, { name: "call" }],
    usageMeters: [
      { id: "storage", schema: "sample", level: "value" },
      { id: "calls", schema: "call", count: true as const },
    ],
    pricePlans: [
      { id: "plain", cycle: "MONTHLY" as const, usage },
      { id: "patient", cycle: { interval: "MONTHLY" as const, gracePeriod: 40 }, usage },
    ],
    accounts: [{ id: "contoso", plans }],
  };
  return { store, ...(await loadedAt("2026-01-01", book, { store, ...options })) };
}

function levelOf(id: string, timestamp: string, value: number): GeneratedEvent {
  return {
    schemaName: "sample",
    id,
    accountId: "contoso",
    timestamp,
    attributes: [{ name: "value", value }],
    dimensions: {},
  };
}

function callOf(id: string, timestamp: string): EventInput {
  return { schemaName: "call", id, accountId: "contoso", timestamp };
}

async function statusesOf(engine: Engine, events: readonly EventInput[]): Promise<readonly string[]> {
  return (await engine.ingest(events)).map(({ status }) => status.replace(/^INGESTION_(?:COMPLETED_)?/, ""));
}

/** The totals of the account's invoices by their first day. */
async function totalsOf(engine: Engine): Promise<readonly string[]> {
  const { items } = await engine.invoices.list({ filter: { accountId: "contoso" } });
  return items
    .map(({ invoice }) => `${invoice.startDate.slice(0, 10)}: ${invoice.revenueInfo.value.toFixed(2)}`)
    .toSorted();
}

test("S6.5 an event or undo before the first plan cannot change a level that was billed: 40 units in October and November", async () => {
  const { engine, at } = await engineWith([{ plan: "plain", from: "2026-10-01" }]);
  at("2026-10-05");
  const first = levelOf("first", "2026-09-20T00:00:00Z", 40);
  expect(await statusesOf(engine, [first, callOf("call", "2026-09-20T00:00:00Z")])).toEqual([
    "EVENT_NOT_BILLED",
    "EVENT_NOT_BILLED",
  ]);
  at("2026-11-02");
  const [late, call] = await engine.ingest([
    levelOf("late", "2026-09-25T00:00:00Z", 80),
    callOf("late call", "2026-09-25T00:00:00Z"),
  ]);
  expect(late).toMatchObject({
    status: "INGESTION_FAILED_PAST_GRACE_PERIOD",
    description:
      "Billing periods up to 2026-11-01T00:00:00.000Z are closed, so the level at 2026-09-25T00:00:00.000Z cannot change.",
    problem: { code: "LEVEL_TOO_LATE", path: "$.timestamp" },
  });
  expect(call?.status).toBe("INGESTION_COMPLETED_EVENT_NOT_BILLED");
  expect(await engine.undo({ account: "contoso", eventId: "first" })).toMatchObject([
    { status: "FAILED", reason: "The billing period is closed; the event can't be undone" },
  ]);
  expect(await engine.undo({ account: "contoso", eventId: "call" })).toMatchObject([{ status: "REVERTED" }]);
  at("2026-12-01");
  expect(await totalsOf(engine)).toEqual(["2026-10-01: 40.00", "2026-11-01: 40.00"]);
});

test("S6.5 an event between two plans changes the next plan's level while its first cycle is open: 30, then 50 units", async () => {
  const { engine, at } = await engineWith([
    { plan: "plain", from: "2026-09-01", until: "2026-10-01" },
    { plan: "plain", from: "2026-11-01" },
  ]);
  at("2026-09-02");
  await engine.ingest([levelOf("september", "2026-09-01T00:00:00Z", 30)]);
  at("2026-11-30");
  expect(await statusesOf(engine, [levelOf("gap", "2026-10-10T00:00:00Z", 50)])).toEqual(["EVENT_NOT_BILLED"]);
  at("2026-12-01");
  expect(await statusesOf(engine, [levelOf("late", "2026-10-11T00:00:00Z", 70)])).toEqual(["FAILED_PAST_GRACE_PERIOD"]);
  at("2027-01-01");
  expect(await totalsOf(engine)).toEqual(["2026-09-01: 30.00", "2026-11-01: 50.00", "2026-12-01: 50.00"]);
});

test("S6.5 a level cannot change before a closed cycle, even if the cycle before that is open", async () => {
  const { engine, at } = await engineWith([
    { plan: "patient", from: "2026-09-01", until: "2026-10-01" },
    { plan: "plain", from: "2026-10-01" },
  ]);
  at("2026-11-02");
  const september = "2026-09-10T00:00:00Z";
  expect(await statusesOf(engine, [levelOf("level", september, 30), callOf("call", september)])).toEqual([
    "FAILED_PAST_GRACE_PERIOD",
    "EVENT_METERED",
  ]);
});

test("S15.1 an undo finds the events that it can revert among many that are too late for their levels", async () => {
  const { engine, at } = await engineWith([{ plan: "plain", from: "2026-10-01" }]);
  at("2026-09-01");
  const ids = Array.from({ length: 12 }, (_, index) => `level ${index}`);
  await engine.ingest(ids.map((id, index) => levelOf(id, `2026-08-${index + 10}T00:00:00Z`, index)));
  await engine.ingest([callOf("call", "2026-08-25T00:00:00Z")]);
  at("2026-11-02");
  const undone = await engine.undo({ account: "contoso" });
  expect(undone.map(({ event, status }) => `${event.eventId} ${status}`)).toEqual([
    "call REVERTED",
    ...ids.slice(0, 4).map((id) => `${id} FAILED`),
  ]);
});

/** A store of which usage before a date cannot be read any more. */
const withoutUsageBefore = (store: Store, date: string): Store =>
  storeWithReads(
    (view) => ({ usage: (ids, from, until) => view.usage(ids, Math.max(from, dayOf(toInstant(date))), until) }),
    store,
  );

test("S19.1 a level set in January is billed in June, after its event was deleted, and without its usage", async () => {
  const plans = [{ plan: "plain", from: "2026-01-01" }];
  const { engine, store, at } = await engineWith(plans, { keepEventsMs: 45 * DAY_MS });
  await engine.ingest([levelOf("january", "2026-01-01T00:00:00Z", 40)]);
  at("2026-06-01");
  await engine.finalize();
  expect(await engine.pruneEvents()).toEqual({ pruned: 1 });
  expect((await engine.events.list()).items).toEqual([]);
  const [record] = await store.read.accounts(["contoso"]);
  const key = JSON.stringify([toInstant("2026-01-01"), "january", "40"]);
  const january = dayOf(toInstant("2026-01-01"));
  expect(record?.carriedUsage?.until).toBe(dayOf(toInstant("2026-05-01")));
  expect(record?.carriedUsage?.cells.map((cell) => ({ ...cell, quantity: cell.quantity.toFixed() }))).toEqual([
    { meterId: "storage", group: [key], day: january, quantity: "1" },
  ]);
  at("2026-07-01");
  const later = createEngine({
    store: withoutUsageBefore(store, "2026-05-01"),
    clock: () => toInstant("2026-07-01"),
  });
  expect((await totalsOf(later)).slice(-2)).toEqual(["2026-05-01: 40.00", "2026-06-01: 40.00"]);
  const { series } = (
    await later.metrics({
      startTime: "2026-06-01T00:00:00Z",
      endTime: "2026-07-01T00:00:00Z",
      metricQueries: [{ id: "q", name: "USAGE", aggregationPeriod: "MONTH", groupBy: "USAGE_METER_ID" }],
    })
  )[0] ?? { series: [] };
  expect(series.map(({ group, points }) => `${group} ${points.map(({ value }) => value.toFixed()).join()}`)).toEqual([
    "storage 40",
  ]);
});

test("S6.5 records of accounts without meters that carry over stay as they are", async () => {
  const store = memoryStore();
  const book = {
    eventSchemas: [{ name: "sample", attributes: ["value"] }],
    usageMeters: [
      { id: "peak", schema: "sample", max: "value" },
      { id: "last", schema: "sample", latest: "value" },
    ],
    pricePlans: [{ id: "plain", cycle: "MONTHLY" as const, usage: [{ meter: "peak", rate: 1 }] }],
    accounts: [{ id: "contoso", plan: "plain", from: "2026-01-01" }],
  };
  const { engine, at } = await loadedAt("2026-01-01", book, { store });
  await engine.ingest([levelOf("january", "2026-01-02T00:00:00Z", 40)]);
  await at("2026-03-01").finalize();
  const [record] = await store.read.accounts(["contoso"]);
  expect(record).not.toHaveProperty("carriedUsage");
});

test("S17.4 S6.5 a row before the first plan is late usage of the first cycle; later cycles keep the level that was billed", async () => {
  const rows = [levelOf("first", "2026-09-20T00:00:00Z", 40)];
  const { engine, at } = await engineWith([{ plan: "plain", from: "2026-10-01" }], {
    usage: { schemas: ["sample"], source: eventsSource(() => rows) },
  });
  at("2026-12-02");
  await engine.finalize();
  rows.push(levelOf("late", "2026-09-25T00:00:00Z", 80));
  const late = await engine.lateUsage({ accountIds: ["contoso"], from: "2026-10-01", until: "2026-12-01" });
  expect(
    late.map(({ startDate, cells, billedAmount, amountNow, lateAmount }) => [
      startDate,
      ...cells.map(({ date, late: quantity }) => `${date} ${quantity.toFixed()}`),
      ...[billedAmount, amountNow, lateAmount].map((amount) => amount.toFixed(2)),
    ]),
  ).toEqual([["2026-10-01", "2026-09-25 1", "40.00", "80.00", "40.00"]]);
  at("2027-01-01");
  expect(await totalsOf(engine)).toEqual(["2026-10-01: 40.00", "2026-11-01: 40.00", "2026-12-01: 40.00"]);
});
