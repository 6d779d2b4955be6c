/** Levels that are carried over, in an engine: what may still change them, and what is read of them (S6.5, S19). */
import { expect, test } from "vitest";

import type { ShortBookInput } from "../../../src/book/resources/book.ts";
import { toInstant } from "../../../src/calendar/instant.ts";
import { createEngine, type Engine } from "../../../src/engine/engine.ts";
import type { EventInput } from "../../../src/metering/event-envelope.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";

type Plans = NonNullable<NonNullable<ShortBookInput["accounts"]>[number]["plans"]>;

/** An engine with a level priced at 1.00 a unit, and calls at 1.00. */
async function engineWith(plans: Plans) {
  let now = toInstant("2026-09-01");
  const engine = createEngine({ store: memoryStore(), clock: () => now });
  const usage = [
    { meter: "storage", rate: 1 },
    { meter: "calls", rate: 1 },
  ];
  await engine.load({
    organization: { id: "acme" },
    eventSchemas: [{ name: "sample", attributes: ["value"] }, { name: "call" }],
    usageMeters: [
      { id: "storage", schema: "sample", level: "value" },
      { id: "calls", schema: "call", count: true },
    ],
    pricePlans: [
      { id: "plain", cycle: "MONTHLY", usage },
      { id: "patient", cycle: { interval: "MONTHLY", gracePeriod: 40 }, usage },
    ],
    accounts: [{ id: "contoso", plans }],
  });
  return { engine, goTo: (time: string) => (now = toInstant(time)) };
}

function levelOf(id: string, timestamp: string, value: number): EventInput {
  return { schemaName: "sample", id, accountId: "contoso", timestamp, attributes: { value } };
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
  const { engine, goTo } = await engineWith([{ plan: "plain", from: "2026-10-01" }]);
  goTo("2026-10-05");
  const first = levelOf("first", "2026-09-20T00:00:00Z", 40);
  expect(await statusesOf(engine, [first, callOf("call", "2026-09-20T00:00:00Z")])).toEqual([
    "EVENT_NOT_BILLED",
    "EVENT_NOT_BILLED",
  ]);
  goTo("2026-11-02");
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
  goTo("2026-12-01");
  expect(await totalsOf(engine)).toEqual(["2026-10-01: 40.00", "2026-11-01: 40.00"]);
});

test("S6.5 an event between two plans changes the next plan's level while its first cycle is open: 30, then 50 units", async () => {
  const { engine, goTo } = await engineWith([
    { plan: "plain", from: "2026-09-01", until: "2026-10-01" },
    { plan: "plain", from: "2026-11-01" },
  ]);
  goTo("2026-09-02");
  await engine.ingest([levelOf("september", "2026-09-01T00:00:00Z", 30)]);
  goTo("2026-11-30");
  expect(await statusesOf(engine, [levelOf("gap", "2026-10-10T00:00:00Z", 50)])).toEqual(["EVENT_NOT_BILLED"]);
  goTo("2026-12-01");
  expect(await statusesOf(engine, [levelOf("late", "2026-10-11T00:00:00Z", 70)])).toEqual(["FAILED_PAST_GRACE_PERIOD"]);
  goTo("2027-01-01");
  expect(await totalsOf(engine)).toEqual(["2026-09-01: 30.00", "2026-11-01: 50.00", "2026-12-01: 50.00"]);
});

test("S6.5 a level cannot change before a closed cycle, even if the cycle before that is open", async () => {
  const { engine, goTo } = await engineWith([
    { plan: "patient", from: "2026-09-01", until: "2026-10-01" },
    { plan: "plain", from: "2026-10-01" },
  ]);
  goTo("2026-11-02");
  const september = "2026-09-10T00:00:00Z";
  expect(await statusesOf(engine, [levelOf("level", september, 30), callOf("call", september)])).toEqual([
    "FAILED_PAST_GRACE_PERIOD",
    "EVENT_METERED",
  ]);
});

test("S15.1 an undo finds the events that it can revert among many that are too late for their levels", async () => {
  const { engine, goTo } = await engineWith([{ plan: "plain", from: "2026-10-01" }]);
  const ids = Array.from({ length: 12 }, (_, index) => `level ${index}`);
  await engine.ingest(ids.map((id, index) => levelOf(id, `2026-08-${index + 10}T00:00:00Z`, index)));
  await engine.ingest([callOf("call", "2026-08-25T00:00:00Z")]);
  goTo("2026-11-02");
  const undone = await engine.undo({ account: "contoso" });
  expect(undone.map(({ event, status }) => `${event.eventId} ${status}`)).toEqual([
    "call REVERTED",
    ...ids.slice(0, 4).map((id) => `${id} FAILED`),
  ]);
});
