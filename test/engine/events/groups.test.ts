/** Meters with groups in an engine (S18.1). */
import { describe, expect, test } from "vitest";

import type { EventInput } from "../../../src/metering/event-envelope.ts";
import { type ClockedEngine, describeRefusal, loadedAt } from "../support.ts";

const SEARCH = { from: "2026-10-01", until: "2026-11-01" };

/** An engine with a meter that groups by a declared and a computed dimension, and the account `prod` with an alias. */
async function createGrouping(): Promise<ClockedEngine> {
  const size = { if: [{ ">": [{ var: "attribute.count" }, 100] }, "large", "small"] };
  return loadedAt("2026-10-05", {
    eventSchemas: [{ name: "request", attributes: ["count"], dimensions: ["model"], computedDimensions: { size } }],
    usageMeters: [{ id: "tokens", schema: "request", sum: "count", groupBy: ["size", "model"] }],
    accounts: [{ id: "prod", aliases: ["alias"] }],
  });
}

const eventOf = (id: string, count: number, model: string | number, more: Partial<EventInput> = {}): EventInput => ({
  schemaName: "request",
  id,
  accountId: "prod",
  timestamp: "2026-10-04T10:00:00Z",
  attributes: { count },
  dimensions: { model },
  ...more,
});

async function listUsage({ engine }: ClockedEngine): Promise<readonly string[]> {
  const usage = await engine.usage({ accountIds: ["prod"], ...SEARCH });
  return usage.map(({ date, group, quantity }) => [date, JSON.stringify(group), quantity.toFixed()].join(" "));
}

describe("usage by group", () => {
  test("S18.1 S15.3 is stored by group, and an undo subtracts from the group of its event", async () => {
    const underTest = await createGrouping();
    const { engine } = underTest;
    await engine.ingest([
      eventOf("a", 5, "nova"),
      eventOf("b", 500, "nova", { accountId: "alias" }),
      eventOf("c", 7, 2),
    ]);
    await engine.ingest([eventOf("d", 2, "nova"), eventOf("e", 1, "2", { timestamp: "2026-10-05T00:00:00Z" })]);
    expect(await listUsage(underTest)).toEqual([
      '2026-10-04 {"size":"large","model":"nova"} 500',
      '2026-10-04 {"size":"small","model":"2"} 7',
      '2026-10-04 {"size":"small","model":"nova"} 7',
      '2026-10-05 {"size":"small","model":"2"} 1',
    ]);
    await engine.undo({ account: "prod", eventId: "c" });
    await engine.undo({ account: "prod", eventId: "b" });
    await engine.undo({ account: "prod", eventId: "a" });
    expect(await listUsage(underTest)).toEqual([
      '2026-10-04 {"size":"small","model":"nova"} 2',
      '2026-10-05 {"size":"small","model":"2"} 1',
    ]);
  });
});

test("S18.1 metrics of usage have a series for each group, by day and by hour", async () => {
  const { engine } = await createGrouping();
  const later = { timestamp: "2026-10-05T00:00:00Z" };
  await engine.ingest([
    eventOf("a", 5, "nova"),
    eventOf("b", 500, "nova"),
    eventOf("c", 2, "nova"),
    eventOf("d", 1, 2, later),
  ]);
  const queryOf = (aggregationPeriod: "DAY" | "HOUR", name: "USAGE" | "EVENTS" = "USAGE") =>
    engine.metrics({
      startTime: "2026-10-04T00:00:00Z",
      endTime: "2026-10-06T00:00:00Z",
      metricQueries: [{ id: "q", name, aggregationPeriod, groupBy: "USAGE_GROUP" }],
    });
  const listTotals = async (aggregationPeriod: "DAY" | "HOUR"): Promise<readonly string[]> => {
    const [result] = await queryOf(aggregationPeriod);
    return (result?.series ?? []).map(
      ({ group, points }) => `${group} ${points.reduce((sum, { value }) => sum + value.toNumber(), 0)}`,
    );
  };
  const totals = ['["large","nova"] 500', '["small","2"] 1', '["small","nova"] 7'];
  expect([await listTotals("DAY"), await listTotals("HOUR")]).toEqual([totals, totals]);
  expect(await describeRefusal(queryOf("DAY", "EVENTS"))).toContain("only usage can be grouped by USAGE_GROUP");
});

describe("an account with 1,000 groups of a meter on a day", () => {
  const statusesOf = async ({ engine }: ClockedEngine, ...events: readonly EventInput[]): Promise<readonly string[]> =>
    (await engine.ingest(events)).map(({ status }) => status.replace(/^INGESTION_(COMPLETED|FAILED)_(EVENT_)?/, ""));
  const fill = (count: number): readonly EventInput[] =>
    Array.from({ length: count }, (_, index) => eventOf(`f${index}`, 1, `model ${index}`, { accountId: "alias" }));

  test("S18.1 accepts no other group, whether events come alone or in batches, until an undo makes room", async () => {
    const underTest = await createGrouping();
    await underTest.engine.ingest(fill(998));
    const [other, known] = [eventOf("other", 1, "other"), eventOf("known", 1, "model 5")];
    const tomorrow = eventOf("tomorrow", 1, "other", { timestamp: "2026-10-05T00:00:00Z" });
    expect(await statusesOf(underTest, eventOf("x", 1, "x"), eventOf("y", 1, "y"), other, known, tomorrow)).toEqual([
      "NOT_BILLED",
      "NOT_BILLED",
      "UNITS_INVALID",
      "NOT_BILLED",
      "NOT_BILLED",
    ]);
    expect(await statusesOf(underTest, other)).toEqual(["UNITS_INVALID"]);
    const [failure] = await underTest.engine.ingest([{ ...other, accountId: "alias" }]);
    expect(failure?.description).toBe(
      'The account has usage of 1000 groups of the meter "tokens" on 2026-10-04, the maximum; use dimensions with fewer values.',
    );
    await underTest.engine.undo({ account: "prod", eventId: "x" });
    expect(await statusesOf(underTest, other, eventOf("x", 1, "x"), eventOf("zero", 0, "zero"))).toEqual([
      "NOT_BILLED",
      "UNITS_INVALID",
      "NOT_BILLED",
    ]);
  });
});
