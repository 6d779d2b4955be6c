/** Meters that do not sum, in an engine (S19). */
import { describe, expect, test } from "vitest";

import type { ShortBookInput } from "../../../src/book/resources/book.ts";
import type { MetricsRequest } from "../../../src/book/resources/requests.ts";
import type { ShortMeterInput } from "../../../src/book/resources/short-items.ts";
import { formatInstant, toInstant } from "../../../src/calendar/instant.ts";
import { createEngine, type Engine } from "../../../src/engine/engine.ts";
import type { EventInput } from "../../../src/metering/event-envelope.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";

interface EngineAtDay {
  readonly engine: Engine;
  /** Sets the clock. */
  readonly goTo: (time: string) => void;
}

/** An engine with one meter, priced at 1.00 a unit in October. */
async function engineWith(meter: Partial<ShortMeterInput>): Promise<EngineAtDay> {
  let now = toInstant("2026-10-01");
  const engine = createEngine({ store: memoryStore(), clock: () => now });
  const book: ShortBookInput = {
    organization: { id: "acme" },
    eventSchemas: [{ name: "sample", attributes: ["value"], dimensions: ["user"] }],
    usageMeters: [{ id: "m", schema: "sample", ...meter }],
    pricePlans: [{ id: "p", cycle: "MONTHLY", usage: [{ meter: "m", rate: 1 }] }],
    accounts: [{ id: "contoso", plan: "p", from: "2026-10-01" }],
  };
  await engine.load(book);
  return { engine, goTo: (time) => (now = toInstant(time)) };
}

let ids = 0;
function eventOf(timestamp: string, value: number, more: Partial<EventInput> = {}): EventInput {
  const event = { schemaName: "sample", id: `e${++ids}`, accountId: "contoso", timestamp: `2026-10-${timestamp}:00Z` };
  return { ...event, attributes: { value }, dimensions: { user: String(value) }, ...more };
}

async function totalOf(engine: Engine): Promise<string | undefined> {
  const { items } = await engine.invoices.list({
    filter: { accountId: "contoso", from: "2026-10-01", until: "2026-11-01" },
  });
  return items[0]?.invoice.revenueInfo.value.toFixed(2);
}

describe("S19.2 an undo takes off a value", () => {
  test("so that the next peak is there", async () => {
    const { engine, goTo } = await engineWith({ max: "value" });
    goTo("2026-10-21");
    const peak = eventOf("14T10:00", 48);
    await engine.ingest([eventOf("02T10:00", 30), peak, eventOf("20T10:00", 7)]);
    expect(await totalOf(engine)).toBe("48.00");
    await engine.undo({ account: "contoso", eventId: peak.id });
    expect(await totalOf(engine)).toBe("30.00");
  });

  test("only once: a user of two events still counts", async () => {
    const { engine, goTo } = await engineWith({ unique: "user" });
    goTo("2026-10-21");
    const again = eventOf("14T10:00", 1);
    await engine.ingest([eventOf("02T10:00", 1), again, eventOf("20T10:00", 2)]);
    await engine.undo({ account: "contoso", eventId: again.id });
    expect(await totalOf(engine)).toBe("2.00");
  });

  test("of a level, so that the level before it lasts: 31 units for 1 day and 62 for 1 of 31 days", async () => {
    const { engine, goTo } = await engineWith({ level: "value" });
    goTo("2026-10-04");
    const [first, second] = [eventOf("01T00:00", 31), eventOf("02T00:00", 62)];
    await engine.ingest([first, second, eventOf("03T00:00", 0)]);
    expect(await totalOf(engine)).toBe("3.00");
    await engine.undo({ account: "contoso", eventId: second.id });
    expect(await totalOf(engine)).toBe("2.00");
  });
});

test("S19.5 a draft weighs the days that have passed: 62 units for 1, 10 and 31 of 31 days", async () => {
  const { engine, goTo } = await engineWith({ change: "value" });
  goTo("2026-10-02");
  await engine.ingest([eventOf("01T00:00", 62)]);
  expect(await totalOf(engine)).toBe("2.00");
  goTo("2026-10-11");
  expect(await totalOf(engine)).toBe("20.00");
  goTo("2026-11-01");
  expect(await totalOf(engine)).toBe("62.00");
});

describe("S19.2 rejects", () => {
  const reject = async (meter: Partial<ShortMeterInput>, event: EventInput): Promise<string | undefined> => {
    const { engine, goTo } = await engineWith(meter);
    goTo("2026-10-21");
    const [outcome] = await engine.ingest([event]);
    expect(outcome?.status).toBe("INGESTION_FAILED_UNITS_INVALID");
    return outcome?.problem?.message;
  };

  test("a value that is no number", async () => {
    const message = await reject(
      { max: { var: "dimension.user" } },
      eventOf("02T10:00", 1, { dimensions: { user: "ann" } }),
    );
    expect(message).toBe(
      'The meter "m" cannot measure the event: its computation must return a decimal but returned "ann".',
    );
  });
  test("a text of more than 256 characters to count", async () => {
    const message = await reject({ unique: "user" }, eventOf("02T10:00", 1, { dimensions: { user: "x".repeat(300) } }));
    expect(message).toContain("a text of 300 characters; a value to count has 1 to 256");
  });
  test("a level below zero", async () => {
    expect(await reject({ level: "value" }, eventOf("02T10:00", -1))).toContain("a level must be 0 or more");
  });
});

test("S19.1 metrics of usage have the peak of each day, or of the month; revenue is what each rise of the peak adds", async () => {
  const { engine, goTo } = await engineWith({ max: "value" });
  goTo("2026-10-21");
  await engine.ingest([eventOf("02T10:00", 30), eventOf("14T10:00", 48), eventOf("20T10:00", 7)]);
  const pointsOf = async (query: Pick<MetricsRequest["metricQueries"][number], "name" | "aggregationPeriod">) => {
    const range = { startTime: "2026-10-01T00:00:00Z", endTime: "2026-11-01T00:00:00Z" };
    const [result] = await engine.metrics({ ...range, metricQueries: [{ id: "q", ...query }] });
    const points = result?.series.flatMap((series) => series.points) ?? [];
    return points.flatMap(({ startTime, value }) =>
      value.isZero() ? [] : [`${formatInstant(startTime).slice(8, 10)}: ${value.toFixed()}`],
    );
  };
  expect(await pointsOf({ name: "USAGE", aggregationPeriod: "DAY" })).toEqual(["02: 30", "14: 48", "20: 7"]);
  expect(await pointsOf({ name: "USAGE", aggregationPeriod: "MONTH" })).toEqual(["01: 48"]);
  expect(await pointsOf({ name: "REVENUE", aggregationPeriod: "DAY" })).toEqual(["02: 30", "14: 18"]);
});

test("S19.2 metrics of events by meter count an event that changes a level once", async () => {
  const { engine, goTo } = await engineWith({ change: "value" });
  goTo("2026-10-21");
  await engine.ingest([eventOf("02T10:00", 30), eventOf("14T10:00", -10)]);
  const range = { startTime: "2026-10-01T00:00:00Z", endTime: "2026-11-01T00:00:00Z" };
  const query = { id: "q", name: "EVENTS", aggregationPeriod: "MONTH", groupBy: "USAGE_METER_ID" } as const;
  const [result] = await engine.metrics({ ...range, metricQueries: [query] });
  expect(result?.series.flatMap(({ points }) => points.map(({ value }) => value.toFixed()))).toEqual(["2"]);
});

test("S13.5 S19.1 a draft lists the value that is carried over from before the plan, without a card too", async () => {
  let now = toInstant("2026-10-01");
  const engine = createEngine({ store: memoryStore(), clock: () => now });
  await engine.load({
    organization: { id: "acme" },
    eventSchemas: [{ name: "sample", attributes: ["value"] }],
    usageMeters: [
      { id: "m", schema: "sample", latest: "value", carryOver: true },
      { id: "count", schema: "sample", count: true },
    ],
    pricePlans: [{ id: "p", cycle: "MONTHLY", usage: [{ meter: "count", rate: 1 }] }],
    accounts: [{ id: "contoso", plan: "p", from: "2026-10-01" }],
  });
  const event = { schemaName: "sample", accountId: "contoso", attributes: { value: 5 } };
  await engine.ingest([{ ...event, id: "before", timestamp: "2026-09-30T10:00:00Z" }]);
  now = toInstant("2026-10-21");
  const { invoices } = await engine.preview();
  const lines = invoices.flatMap(({ invoice }) => invoice.usageInfo?.lineItems ?? []);
  expect(lines.map(({ id, quantity }) => `${id} ${quantity.toFixed()}`)).toEqual(["m 5"]);
});

test("S13.5 S19.1 the revenue of an account's cycle has its peak, its carried value and its average level", async () => {
  let now = toInstant("2026-09-21");
  const engine = createEngine({ store: memoryStore(), clock: () => now });
  const meters = [{ max: "value" }, { latest: "value", carryOver: true }, { level: "value" }, { sum: "value" }];
  const usageMeters = meters.map((measure, index) => ({ id: `m${index}`, schema: "sample", ...measure }));
  await engine.load({
    organization: { id: "acme" },
    eventSchemas: [{ name: "sample", attributes: ["value"] }],
    usageMeters,
    pricePlans: [{ id: "p", cycle: "MONTHLY", usage: usageMeters.map(({ id }) => ({ meter: id, rate: 1 })) }],
    accounts: [{ id: "contoso", plan: "p", from: "2026-09-01" }],
  });
  const event = { schemaName: "sample", accountId: "contoso" };
  await engine.ingest([{ ...event, id: "s1", timestamp: "2026-09-21T00:00:00Z", attributes: { value: 30 } }]);
  now = toInstant("2026-10-11");
  await engine.ingest([{ ...event, id: "o1", timestamp: "2026-10-06T00:00:00Z", attributes: { value: 61 } }]);
  const usageOf = async (cycle: "CURRENT" | "LAST"): Promise<string> => {
    const { usage, totalAmount } = await engine.calculateRevenue({
      pricePlanDetailsConfig: { mode: "ACCOUNT", accountId: "contoso" },
      usageConfig: { mode: "LOOKUP_CYCLE", cycle },
    });
    return `${usageMeters.map(({ id }) => usage.get(id)?.toFixed()).join()} cost ${totalAmount.toFixed(2)}`;
  };
  const { totalAmount } = await engine.calculateRevenue({
    pricePlanDetailsConfig: { mode: "ACCOUNT", accountId: "contoso" },
    usageConfig: { mode: "CUSTOM", usageMap: { m0: 5, m2: "2.5" } },
  });
  expect(totalAmount.toFixed(2)).toBe("7.50");
  // September has 30 for its last 10 of 30 days.
  expect(await usageOf("LAST")).toBe("30,30,10,30 cost 100.00");
  // October has 30 for 5 days and 61 for 5 days that have passed, of 31: (150 + 305) ÷ 31 = 14.677….
  expect(await usageOf("CURRENT")).toBe("61,61,14.67741935483870967742,61 cost 197.68");
});
