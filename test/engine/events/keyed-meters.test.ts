/** Meters that do not sum, in an engine (S19). */
import { expect, test } from "vitest";

import type { MetricsRequest } from "../../../src/book/resources/requests.ts";
import type { ShortMeterInput } from "../../../src/book/resources/short-items.ts";
import { formatInstant } from "../../../src/calendar/instant.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { sampleBook, sampleEvents } from "../../support/samples.ts";
import { type ClockedEngine, loadedAt } from "../support.ts";

/** An engine with one meter, priced at 1.00 a unit in October. */
const engineWith = (meter: Partial<ShortMeterInput>): Promise<ClockedEngine> =>
  loadedAt("2026-10-01", sampleBook(meter, { from: "2026-10-01" }));

async function totalOf(engine: Engine): Promise<string | undefined> {
  const { items } = await engine.invoices.list({
    filter: { accountId: "contoso", from: "2026-10-01", until: "2026-11-01" },
  });
  return items[0]?.invoice.revenueInfo.value.toFixed(2);
}

// A level of 31 units lasts for 1 day, and one of 62 for 1 of 31 days.
test.each<[string, Partial<ShortMeterInput>, string, string, string]>([
  [
    "a peak, so that the next peak is there",
    { max: "value" },
    "10-02T10:00 30, 10-14T10:00 48, 10-20T10:00 7",
    "48.00",
    "30.00",
  ],
  [
    "a value once: a user of two events still counts",
    { unique: "user" },
    "10-02T10:00 1, 10-14T10:00 1, 10-20T10:00 2",
    "2.00",
    "2.00",
  ],
  [
    "a level, so that the level before it lasts",
    { level: "value" },
    "10-01T00:00 31, 10-02T00:00 62, 10-03T00:00 0",
    "3.00",
    "2.00",
  ],
])("S19.2 an undo takes off %s", async (_, meter, samples, before, after) => {
  const { engine, at } = await engineWith(meter);
  await at("2026-10-21").ingest(sampleEvents(samples));
  expect(await totalOf(engine)).toBe(before);
  await engine.undo({ account: "contoso", eventId: "e1" });
  expect(await totalOf(engine)).toBe(after);
});

test("S19.5 a draft weighs the days that have passed: 62 units for 1, 10 and 31 of 31 days", async () => {
  const { engine, at } = await engineWith({ change: "value" });
  at("2026-10-02");
  await engine.ingest(sampleEvents("10-01T00:00 62"));
  expect(await totalOf(engine)).toBe("2.00");
  at("2026-10-11");
  expect(await totalOf(engine)).toBe("20.00");
  at("2026-11-01");
  expect(await totalOf(engine)).toBe("62.00");
});

test.each<[string, Partial<ShortMeterInput>, number, string, string | RegExp]>([
  [
    "a value that is no number",
    { max: { var: "dimension.user" } },
    1,
    "ann",
    'The meter "m" cannot measure the event: its computation must return a decimal but returned "ann".',
  ],
  [
    "a text of more than 256 characters to count",
    { unique: "user" },
    1,
    "x".repeat(300),
    /a text of 300 characters; a value to count has 1 to 256/,
  ],
  ["a level below zero", { level: "value" }, -1, "ann", /a level must be 0 or more/],
])("S19.2 %s is rejected", async (_, meter, value, user, message) => {
  const { at } = await engineWith(meter);
  const [outcome] = await at("2026-10-21").ingest(
    sampleEvents(`10-02T10:00 ${value}`).map((event) => ({ ...event, dimensions: { user, region: "eu" } })),
  );
  expect(outcome?.status).toBe("INGESTION_FAILED_UNITS_INVALID");
  expect(outcome?.problem?.message).toMatch(message);
});

test("S19.1 metrics of usage have the peak of each day, or of the month; revenue is what each rise of the peak adds", async () => {
  const { engine, at } = await engineWith({ max: "value" });
  at("2026-10-21");
  await engine.ingest(sampleEvents("10-02T10:00 30, 10-14T10:00 48, 10-20T10:00 7"));
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
  const { engine, at } = await engineWith({ change: "value" });
  at("2026-10-21");
  await engine.ingest(sampleEvents("10-02T10:00 30, 10-14T10:00 -10"));
  const range = { startTime: "2026-10-01T00:00:00Z", endTime: "2026-11-01T00:00:00Z" };
  const query = { id: "q", name: "EVENTS", aggregationPeriod: "MONTH", groupBy: "USAGE_METER_ID" } as const;
  const [result] = await engine.metrics({ ...range, metricQueries: [query] });
  expect(result?.series.flatMap(({ points }) => points.map(({ value }) => value.toFixed()))).toEqual(["2"]);
});

test("S13.5 S19.1 a draft lists the value that is carried over from before the plan, without a card too", async () => {
  const { engine, at } = await loadedAt("2026-10-01", {
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
  const { invoices } = await at("2026-10-21").preview();
  const lines = invoices.flatMap(({ invoice }) => invoice.usageInfo?.lineItems ?? []);
  expect(lines.map(({ id, quantity }) => `${id} ${quantity.toFixed()}`)).toEqual(["m 5"]);
});

test("S13.5 S19.1 the revenue of an account's cycle has its peak, its carried value and its average level", async () => {
  const meters = [{ max: "value" }, { latest: "value", carryOver: true }, { level: "value" }, { sum: "value" }];
  const usageMeters = meters.map((measure, index) => ({ id: `m${index}`, schema: "sample", ...measure }));
  const { engine, at } = await loadedAt("2026-09-21", {
    eventSchemas: [{ name: "sample", attributes: ["value"] }],
    usageMeters,
    pricePlans: [{ id: "p", cycle: "MONTHLY", usage: usageMeters.map(({ id }) => ({ meter: id, rate: 1 })) }],
    accounts: [{ id: "contoso", plan: "p", from: "2026-09-01" }],
  });
  const event = { schemaName: "sample", accountId: "contoso" };
  await engine.ingest([{ ...event, id: "s1", timestamp: "2026-09-21T00:00:00Z", attributes: { value: 30 } }]);
  await at("2026-10-11").ingest([{ ...event, id: "o1", timestamp: "2026-10-06T00:00:00Z", attributes: { value: 61 } }]);
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
