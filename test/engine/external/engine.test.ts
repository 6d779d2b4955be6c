/** An engine that reads the usage of some schemas from an external source (S17.4, S17.5). */
import { describe, expect, test } from "vitest";

import { parseInstant } from "../../../src/calendar/instant.ts";
import { createEngine, type Engine } from "../../../src/engine/engine.ts";
import { usageFromRows, type UsageSource } from "../../../src/ledger/external-usage.ts";
import type { UsageRowInput } from "../../../src/metering/usage-rows.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import { describeRefusal } from "../support.ts";
import { countEvent, teamBook } from "../team-book.ts";

const usageRow = (
  date: string,
  quantity: number | string,
  meterId = "um.calls",
  accountId = "prod",
): UsageRowInput => ({
  accountId,
  meterId,
  date,
  quantity,
});

/** An engine of {@link teamBook} with external usage of `call`, whose clock and rows the test sets. */
async function engineWith(rows: readonly UsageRowInput[]): Promise<{
  engine: Engine;
  at: (time: string) => Engine;
  put: (...rows: UsageRowInput[]) => void;
  away: (is: boolean) => void;
}> {
  let now = parseInstant("2024-01-01T00:00:00Z");
  let [current, version, isAway] = [[...rows], 0, false];
  const rowSource = usageFromRows({
    name: "the rows of the test",
    read: () => current,
    stamp: async () => String(version),
  });
  const source: UsageSource = {
    name: rowSource.name,
    cells(query) {
      if (isAway) throw new Error("connection refused");
      return rowSource.cells(query);
    },
  };
  const engine = createEngine({ store: memoryStore(), clock: () => now, usage: { schemas: ["call"], source } });
  await engine.load(teamBook());
  return {
    engine,
    at: (time) => {
      now = parseInstant(time.length === 10 ? `${time}T00:00:00Z` : time);
      return engine;
    },
    put: (...newRows) => {
      current = [...current, ...newRows];
      version += 1;
    },
    away: (is) => {
      isAway = is;
    },
  };
}

async function usageLines(engine: Engine): Promise<readonly (readonly [string, string, string | undefined])[]> {
  const { items } = await engine.invoices.list({ filter: { accountId: "prod" } });
  return items.map(({ invoice }) => [
    invoice.status,
    invoice.startDate.slice(0, 10),
    invoice.usageInfo?.lineItems.map(({ id, quantity }) => `${id} ${quantity.toFixed()}`).join(),
  ]);
}

describe("S17.4 external usage", () => {
  test("is read for drafts and final invoices, and added to ingested events", async () => {
    const { engine, at } = await engineWith([
      usageRow("2024-01-03", 150),
      usageRow("2024-01-03", "0.5"),
      usageRow("2024-02-01", 7),
    ]);
    at("2024-01-20");
    const [saveResult] = await engine.ingest([countEvent("s1", "2024-01-19T00:00:00Z", 3, "save")]);
    expect(saveResult?.status).toBe("INGESTION_COMPLETED_EVENT_METERED");
    expect(await usageLines(engine)).toEqual([["DRAFT", "2024-01-01", "um.calls 150.5,um.writes 3"]]);
    at("2024-02-02");
    await engine.finalize();
    expect(await usageLines(engine)).toEqual([
      ["DRAFT", "2024-02-01", "um.calls 7"],
      ["DUE", "2024-01-01", "um.calls 150.5,um.writes 3"],
    ]);
  });

  test("counts up to the instant of the query: days that have not begun are not included", async () => {
    const { engine, at } = await engineWith([usageRow("2024-01-03", 1), usageRow("2024-01-04", 10)]);
    const listPeriodUsage = async (): Promise<readonly string[]> =>
      (await engine.usage({ accountIds: ["prod"], from: "2024-01-01", until: "2024-02-01" })).map(
        ({ date, quantity }) => `${date} ${quantity.toFixed()}`,
      );
    at("2024-01-03T12:00:00Z");
    expect(await listPeriodUsage()).toEqual(["2024-01-03 1"]);
    const { invoices } = await engine.preview({ accountIds: ["prod"], asOf: "2024-01-05" });
    expect(invoices.map(({ invoice }) => invoice.usageInfo?.lineItems[0]?.quantity.toFixed())).toEqual(["11"]);
    at("2024-01-04");
    expect(await listPeriodUsage()).toEqual(["2024-01-03 1", "2024-01-04 10"]);
  });

  test("rejects events of its schemas with a message that it is external, and stores none", async () => {
    const { engine, at } = await engineWith([]);
    at("2024-01-02");
    const results = await engine.ingest([
      countEvent("c1", "2024-01-01T00:00:00Z", 1),
      countEvent("s1", "2024-01-01T00:00:00Z", 1, "save"),
      countEvent("c1", "2024-01-01T00:00:00Z", 1, "save"),
    ]);
    expect(results.map(({ status }) => status)).toEqual([
      "INGESTION_REFUSED",
      "INGESTION_COMPLETED_EVENT_METERED",
      "INGESTION_COMPLETED_EVENT_METERED",
    ]);
    expect(results[0]?.description).toBe('The event schema "call" does not accept events: its usage is external.');
    expect((await engine.events.list({})).items.map(({ schemaName }) => schemaName)).toEqual(["save", "save"]);
  });

  test("rejects series that are computed from stored events if some of them are not stored", async () => {
    const { engine, at } = await engineWith([usageRow("2024-01-03", 5)]);
    at("2024-01-05");
    const queryDay = async (query: object): Promise<unknown> =>
      engine.metrics({
        startTime: "2024-01-03",
        endTime: "2024-01-04",
        metricQueries: [{ id: "q", name: "USAGE", aggregationPeriod: "DAY", ...query } as never],
      });
    expect(await queryDay({})).toMatchObject([
      { series: [{ points: [{ value: expect.objectContaining({ d: [5] }) }] }] },
    ]);
    for (const query of [
      { aggregationPeriod: "HOUR" },
      { name: "EVENTS" },
      { name: "REVENUE", aggregationPeriod: "HOUR" },
    ]) {
      expect(await describeRefusal(queryDay(query))).toBe(
        'ERR_INPUT_INVALID metricQueries[0]: it is computed from stored events, and the usage of the event schema "call" is external; request usage or revenue by day or longer, or filter by other schemas',
      );
      await queryDay({ ...query, filters: [{ fieldName: "SCHEMA_NAME", fieldValues: ["save"] }] });
      await queryDay({ ...query, filters: [{ fieldName: "USAGE_METER_ID", fieldValues: ["um.writes"] }] });
    }
  });

  test("is fixed once its cycle has closed: later usage is late, with its price", async () => {
    const { engine, at, put } = await engineWith([usageRow("2024-01-03", 90)]);
    const january = { accountIds: ["prod", "idle"], from: "2024-01-01", until: "2024-02-01" };
    at("2024-02-02");
    await engine.finalize();
    const before = await engine.usage(january);
    // 2 each up to 100, then 1: of these 30, 10 would have cost 20 and 20 as much.
    put(usageRow("2024-01-03", 20), usageRow("2024-01-31", 10), usageRow("2024-02-01", 5));
    expect(await engine.usage(january)).toEqual(before);
    expect(await usageLines(engine)).toEqual([
      ["DRAFT", "2024-02-01", "um.calls 5"],
      ["DUE", "2024-01-01", "um.calls 90"],
    ]);
    const [late, ...others] = await engine.lateUsage(january);
    expect(others).toEqual([]);
    const { items } = await engine.invoices.list({ filter: { accountId: "prod", status: "DUE" } });
    expect({
      ...late,
      cells: late?.cells.map(({ meterId, date, ...units }) => [meterId, date, ...Object.values(units).map(String)]),
    }).toMatchObject({
      accountId: "prod",
      invoiceId: items[0]?.id,
      startDate: "2024-01-01",
      endDate: "2024-02-01",
      currency: "USD",
      cells: [
        ["um.calls", "2024-01-03", "90", "110", "20"],
        ["um.calls", "2024-01-31", "0", "10", "10"],
      ],
    });
    expect([late?.billedAmount, late?.amountNow, late?.lateAmount].map(String)).toEqual(["210", "250", "40"]);
  });

  test("is fixed at zero if a cycle closed without usage: later usage is late", async () => {
    const { engine, at, put } = await engineWith([]);
    at("2024-02-02");
    await engine.finalize();
    put(usageRow("2024-01-03", 1));
    const january = { accountIds: ["prod"], from: "2024-01-01", until: "2024-02-01" };
    expect(await engine.usage(january)).toEqual([]);
    expect((await engine.lateUsage(january)).map(({ lateAmount }) => String(lateAmount))).toEqual(["2"]);
  });

  test("is fixed by anything that closes the cycle, also by a new version of a plan that moves its accounts", async () => {
    const { engine, at, put } = await engineWith([usageRow("2024-01-03", 90)]);
    at("2024-01-20");
    const { item } = await engine.pricePlans.createVersion("pp.team", {});
    await engine.pricePlans.update(item.id, { mode: "IMMEDIATE" });
    at("2024-02-02");
    await engine.pricePlans.activate(item.id);
    put(usageRow("2024-01-03", 20));
    const january = { accountIds: ["prod"], from: "2024-01-01", until: "2024-02-01" };
    expect((await engine.usage(january)).map(({ quantity }) => String(quantity))).toEqual(["90"]);
    expect((await engine.lateUsage(january)).map(({ lateAmount }) => String(lateAmount))).toEqual(["30"]);
  });

  test("is never late if all events are ingested, and this is reported", async () => {
    const engine = createEngine({ store: memoryStore() });
    expect(
      await describeRefusal(engine.lateUsage({ accountIds: ["a"], from: "2024-01-01", until: "2024-02-01" })),
    ).toMatch(/^ERR_OPTION_INVALID the engine has no external usage/);
  });

  test("is read once for an account that is far behind, which is billed cycle by cycle", async () => {
    const { engine, at } = await engineWith(
      Array.from({ length: 24 }, (_, month) =>
        usageRow(`${2024 + Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, "0")}-15`, month + 1),
      ),
    );
    at("2026-01-01");
    expect(await engine.finalize()).toMatchObject({ skipped: 0 });
    const lines = await usageLines(engine);
    expect(lines.filter(([status]) => status === "DUE").map(([, , listPeriodUsage]) => listPeriodUsage)).toContain(
      "um.calls 24",
    );
  });
});

describe("S17.1 a schema that consumes a feature", () => {
  test("can't have external usage", async () => {
    const book = teamBook();
    const [call, ...others] = book.eventSchemas ?? [];
    const consuming = { ...call, featureDetails: { featureId: "feature.tokens", attributeName: "count" } };
    const usage = { schemas: ["call"], source: usageFromRows({ name: "nothing", read: () => [] }) };
    const engine = createEngine({ store: memoryStore(), usage });
    expect(await describeRefusal(engine.load({ ...book, eventSchemas: [consuming, ...others] } as never))).toBe(
      'ERR_REFUSED the usage of the event schema "call" cannot be external: it consumes credits of the feature "feature.tokens", which requires events in order',
    );
    await engine.load(book);
  });
});

describe("S17.5 an unreadable source", () => {
  test("stops a bill run before it changes anything, and the next one continues", async () => {
    const { engine, at, away } = await engineWith([usageRow("2024-01-03", 5)]);
    at("2024-02-02");
    away(true);
    for (const operation of [
      () => engine.finalize(),
      () => engine.invoices.list({ filter: { accountId: "prod" } }),
      () => engine.preview(),
      () => engine.ingest([countEvent("s1", "2024-02-01T00:00:00Z", 1, "save")]),
      () => engine.usage({ accountIds: ["prod"], from: "2024-01-01", until: "2024-02-01" }),
    ]) {
      expect(await describeRefusal(operation())).toBe(
        "ERR_USAGE_UNAVAILABLE the usage in the rows of the test cannot be read: connection refused",
      );
    }
    away(false);
    expect((await engine.events.list({})).items).toEqual([]);
    expect(await usageLines(engine)).toEqual([
      ["DRAFT", "2024-02-01", undefined],
      ["DUE", "2024-01-01", "um.calls 5"],
    ]);
    expect(await engine.finalize()).toMatchObject({ finalized: 1, skipped: 0 });
  });

  test.each([
    ["an unknown meter", usageRow("2024-01-03", 1, "um.nothing"), /it has rows of the unknown meter "um.nothing"/],
    ["a meter whose events are ingested", usageRow("2024-01-03", 1, "um.writes"), /of its schema "save" are ingested/],
    ["no decimal", usageRow("2024-01-03", "1e"), /"1e" is not a decimal/],
  ])("is one with rows of %s: other rows are not used either", async (_, wrong, why) => {
    const { engine, at, put } = await engineWith([usageRow("2024-01-03", 5)]);
    at("2024-01-05");
    expect(await usageLines(engine)).toEqual([["DRAFT", "2024-01-01", "um.calls 5"]]);
    put(wrong);
    expect(await describeRefusal(engine.preview())).toMatch(why);
  });

  test("is one that returns cells that were not requested", async () => {
    const source: UsageSource = {
      name: "a wrong one",
      async *cells({ from, accounts: [account] }) {
        const { Decimal } = await import("../../../src/numbers/decimal.ts");
        yield [{ accountId: account?.id ?? "", meterId: "um.calls", day: from - 1, quantity: new Decimal(1) }];
      },
    };
    const engine = createEngine({ store: memoryStore(), usage: { schemas: ["call"], source } });
    await engine.load(teamBook());
    expect(await describeRefusal(engine.preview())).toMatch(/^ERR_USAGE_UNAVAILABLE .*which was not requested$/);
  });
});

describe("S17.5 an engine without the source of external usage", () => {
  const rows = [usageRow("2024-01-03", 5)];
  /** Two engines over one store, of which only the first has the option. */
  async function two() {
    const store = memoryStore();
    let now = parseInstant("2024-01-01T00:00:00Z");
    const engineClock = (): number => now;
    const source = usageFromRows({ name: "the rows of the test", read: () => rows });
    const withSource = createEngine({ store, clock: engineClock, usage: { schemas: ["call"], source } });
    await withSource.load(teamBook());
    now = parseInstant("2024-02-02T00:00:00Z");
    return { store, clock: engineClock, withSource };
  }

  test("bills none of it and rejects its events, if another engine over the store has the source", async () => {
    const { store, clock: readClock, withSource } = await two();
    const other = createEngine({ store, clock: readClock });
    for (const operation of [
      async () => other.finalize(),
      async () => other.preview(),
      async () => other.invoices.list({ filter: { accountId: "prod" } }),
      async () => other.usage({ accountIds: ["prod"], from: "2024-01-01", until: "2024-02-01" }),
      async () => other.ingest([countEvent("c1", "2024-02-01T00:00:00Z", 1)]),
    ]) {
      expect(await describeRefusal(operation())).toBe(
        'ERR_USAGE_UNAVAILABLE usage of the event schema "call" is external, and this engine has no source for it; start it with the option usage (--usage and --usage-schemas on the command line)',
      );
    }
    expect(await withSource.finalize()).toMatchObject({ finalized: 1, skipped: 0 });
    expect(await usageLines(withSource)).toContainEqual(["DUE", "2024-01-01", "um.calls 5"]);
    const [refusal] = await other.ingest([countEvent("c1", "2024-02-01T00:00:00Z", 1)]);
    expect(refusal?.status).toBe("INGESTION_REFUSED");
  });

  test("bills none of it if it has only a source for other schemas", async () => {
    const { store, clock: readClock } = await two();
    const source = usageFromRows({ name: "other rows", read: () => [] });
    const other = createEngine({ store, clock: readClock, usage: { schemas: ["save"], source } });
    expect(await describeRefusal(other.finalize())).toContain('usage of the event schema "call" is external');
  });

  test("accepts the events once it is configured to ingest them again, and so do other engines after that", async () => {
    const { store, clock: readClock } = await two();
    const again = createEngine({ store, clock: readClock, resumeIngest: ["call"] });
    const [first] = await again.ingest([countEvent("c1", "2024-02-01T00:00:00Z", 1)]);
    expect(first?.status).toBe("INGESTION_COMPLETED_EVENT_METERED");
    const [second] = await createEngine({ store, clock: readClock }).ingest([
      countEvent("c2", "2024-02-01T00:00:00Z", 1),
    ]);
    expect(second?.status).toBe("INGESTION_COMPLETED_EVENT_METERED");
  });

  test("rejects both options for the same schema", () => {
    const source = usageFromRows({ name: "rows", read: () => [] });
    const options = { store: memoryStore(), usage: { schemas: ["call"], source } };
    expect(() => createEngine({ ...options, resumeIngest: ["call"] })).toThrow(
      'resumeIngest: "call" is also in usage.schemas',
    );
    expect(() => createEngine({ ...options, resumeIngest: "call" as never })).toThrow(
      "resumeIngest: expected the names of event schemas",
    );
  });
});

test("S17.4 rejects an engine with an invalid usage option", () => {
  for (const usage of [{}, { schemas: [], source: { cells: () => [] } }, { schemas: ["call"] }]) {
    expect(() => createEngine({ store: memoryStore(), usage: usage as never })).toThrow(/^usage: expected/);
  }
});
