/**
 * An engine that reads the usage of some schemas from an external source: what it bills, what is late, rows with groups,
 * and sources that cannot be read (S17, S18.1).
 */
import { describe, expect, test } from "vitest";

import { createEngine, type Engine } from "../../../src/engine/engine.ts";
import { createPreview } from "../../../src/index.ts";
import { usageFromRows, type UsageSource } from "../../../src/ledger/external-usage.ts";
import type { UsageRowInput } from "../../../src/metering/usage-rows.ts";
import { Decimal } from "../../../src/numbers/decimal.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import { collectStatuses, describeRefusal, engineAt, listUsage } from "../support.ts";
import { countEvent, teamBook } from "../team-book.ts";

const usageRow = (
  date: string,
  quantity: number | string,
  meterId = "um.calls",
  accountId = "prod",
): UsageRowInput => ({ accountId, meterId, date, quantity });
const JANUARY = { accountIds: ["prod"], from: "2024-01-01", until: "2024-02-01" };

/** An engine of {@link teamBook}, or of another book, with external usage of `call` whose clock and rows the test sets. */
async function engineWith(rows: UsageRowInput[] = [], book: object = teamBook()) {
  let isAway = false;
  const rowSource = usageFromRows({
    name: "the rows of the test",
    read: () => rows,
    stamp: async () => String(rows.length),
  });
  const source: UsageSource = {
    name: rowSource.name,
    cells(query) {
      if (isAway) throw new Error("connection refused");
      return rowSource.cells(query);
    },
  };
  const subject = engineAt("2024-01-01", memoryStore(), { usage: { schemas: ["call"], source } });
  await subject.engine.load(book);
  const setAway = (is: boolean): void => {
    isAway = is;
  };
  return { ...subject, rows, setAway };
}

/** The billed amount, that of all usage, and the difference, for each cycle of January with late usage. */
async function listLateAmounts(engine: Engine): Promise<readonly string[]> {
  return (await engine.lateUsage(JANUARY)).map(({ billedAmount, amountNow, lateAmount }) =>
    [billedAmount, amountNow, lateAmount].map((amount) => amount.toFixed()).join(" "),
  );
}

async function usageLines(engine: Engine): Promise<readonly string[]> {
  const { items } = await engine.invoices.list({ filter: { accountId: "prod" } });
  return items.map(({ invoice }) => {
    const usage = invoice.usageInfo?.lineItems.map(({ id, quantity }) => `${id} ${quantity.toFixed()}`);
    return [invoice.status, invoice.startDate.slice(0, 10), ...(usage ?? [])].join(" ");
  });
}

describe("S17.4 external usage", () => {
  test("is read for drafts and final invoices, and added to ingested events", async () => {
    const given = [usageRow("2024-01-03", 150), usageRow("2024-01-03", "0.5"), usageRow("2024-02-01", 7)];
    const { engine, at } = await engineWith(given);
    expect(await collectStatuses(at("2024-01-20"), countEvent("s1", "2024-01-19T00:00:00Z", 3, "save"))).toEqual([
      "INGESTION_COMPLETED_EVENT_METERED",
    ]);
    expect(await usageLines(engine)).toEqual(["DRAFT 2024-01-01 um.calls 150.5 um.writes 3"]);
    await at("2024-02-02").finalize();
    expect(await usageLines(engine)).toEqual([
      "DRAFT 2024-02-01 um.calls 7",
      "DUE 2024-01-01 um.calls 150.5 um.writes 3",
    ]);
  });

  test("counts up to the instant of the query: days that have not begun are not included", async () => {
    const { engine, at } = await engineWith([usageRow("2024-01-03", 1), usageRow("2024-01-04", 10)]);
    expect(await listUsage(at("2024-01-03T12:00:00Z"))).toEqual(["um.calls 2024-01-03 1"]);
    const { invoices } = await engine.preview({ accountIds: ["prod"], asOf: "2024-01-05" });
    expect(invoices.map(({ invoice }) => invoice.usageInfo?.lineItems[0]?.quantity.toFixed())).toEqual(["11"]);
    expect(await listUsage(at("2024-01-04"))).toEqual(["um.calls 2024-01-03 1", "um.calls 2024-01-04 10"]);
  });

  test("rejects events of its schemas with a message that it is external, and stores none", async () => {
    const { engine, at } = await engineWith();
    const results = await at("2024-01-02").ingest([
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
    const { at } = await engineWith([usageRow("2024-01-03", 5)]);
    const engine = at("2024-01-05");
    const queryDay = async (query: object): Promise<readonly string[] | undefined> => {
      const metricQueries = [{ id: "q", name: "USAGE", aggregationPeriod: "DAY", ...query } as never];
      const [result] = await engine.metrics({ startTime: "2024-01-03", endTime: "2024-01-04", metricQueries });
      return result?.series[0]?.points.map(({ value }) => value.toFixed());
    };
    expect(await queryDay({})).toEqual(["5"]);
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
    const { engine, at, rows } = await engineWith([usageRow("2024-01-03", 90)]);
    const january = { ...JANUARY, accountIds: ["prod", "idle"] };
    await at("2024-02-02").finalize();
    const before = await engine.usage(january);
    // 2 each up to 100, then 1: of these 30, 10 would have cost 20 and 20 as much.
    rows.push(usageRow("2024-01-03", 20), usageRow("2024-01-31", 10), usageRow("2024-02-01", 5));
    expect(await engine.usage(january)).toEqual(before);
    expect(await usageLines(engine)).toEqual(["DRAFT 2024-02-01 um.calls 5", "DUE 2024-01-01 um.calls 90"]);
    const [late, ...others] = await engine.lateUsage(january);
    expect(others).toEqual([]);
    const { items } = await engine.invoices.list({ filter: { accountId: "prod", status: "DUE" } });
    const cycle = { accountId: "prod", startDate: "2024-01-01", endDate: "2024-02-01", currency: "USD" };
    expect(late).toMatchObject({ ...cycle, invoiceId: items[0]?.id });
    expect(
      late?.cells.map(({ meterId, date, ...units }) => [meterId, date, ...Object.values(units).map(String)].join(" ")),
    ).toEqual(["um.calls 2024-01-03 90 110 20", "um.calls 2024-01-31 0 10 10"]);
    expect([late?.billedAmount, late?.amountNow, late?.lateAmount].map(String)).toEqual(["210", "250", "40"]);
  });

  test("is fixed at zero if a cycle closed without usage: later usage is late", async () => {
    const { engine, at, rows } = await engineWith();
    await at("2024-02-02").finalize();
    rows.push(usageRow("2024-01-03", 1));
    expect(await engine.usage(JANUARY)).toEqual([]);
    expect(await listLateAmounts(engine)).toEqual(["30 32 2"]);
  });

  test("is fixed by anything that closes the cycle, also by a new version of a plan that moves its accounts", async () => {
    const { engine, at, rows } = await engineWith([usageRow("2024-01-03", 90)]);
    const { item } = await at("2024-01-20").pricePlans.createVersion("pp.team", {});
    await engine.pricePlans.update(item.id, { mode: "IMMEDIATE" });
    await at("2024-02-02").pricePlans.activate(item.id);
    rows.push(usageRow("2024-01-03", 20));
    expect(await listUsage(engine)).toEqual(["um.calls 2024-01-03 90"]);
    // 90 × 2; then 100 × 2 and 10 × 1; and the fee of 30.
    expect(await listLateAmounts(engine)).toEqual(["210 240 30"]);
  });

  test("S13.4 an invoice in advance below zero, which pays for the usage, does not change late usage", async () => {
    const book = {
      eventSchemas: [{ name: "call", attributes: ["count"] }],
      usageMeters: [{ id: "calls", schema: "call", sum: "count" }],
      pricePlans: [
        {
          id: "discounted",
          cycle: "MONTHLY",
          usage: [{ meter: "calls", rate: 2 }],
          fees: [{ id: "fee", name: "Discount", rate: -5, timing: "IN_ADVANCE" }],
        },
      ],
      accounts: [{ id: "prod", plan: "discounted", from: "2024-01-01" }],
    };
    const { engine, at, rows } = await engineWith([usageRow("2024-01-10", 1, "calls")], book);
    await at("2024-02-02").finalize();
    rows.push(usageRow("2024-01-11", 3, "calls"));
    // One call at 2, which the discount paid; four calls are 8. After the discount of 5 it would be 0 and 3.
    expect(await listLateAmounts(engine)).toEqual(["2 8 6"]);
  });

  test("is never late if all events are ingested, and this is reported", async () => {
    const { engine } = engineAt("2024-01-01");
    expect(await describeRefusal(engine.lateUsage(JANUARY))).toMatch(
      /^ERR_OPTION_INVALID the engine has no external usage/,
    );
  });

  test("is read once for an account that is far behind, which is billed cycle by cycle", async () => {
    const months = Array.from({ length: 24 }, (_, month) => new Date(Date.UTC(2024, month, 15)).toISOString());
    const { engine, at } = await engineWith(months.map((day, month) => usageRow(day.slice(0, 10), month + 1)));
    expect(await at("2026-01-01").finalize()).toMatchObject({ skipped: 0 });
    expect(await usageLines(engine)).toContain("DUE 2025-12-01 um.calls 24");
  });
});

test("S17.1 a schema that consumes a feature can't have external usage", async () => {
  const { eventSchemas, ...book } = teamBook();
  const { engine } = await engineWith([], { organization: book.organization });
  const [call, ...others] = eventSchemas ?? [];
  const consuming = { ...call, featureDetails: { featureId: "feature.tokens", attributeName: "count" } };
  const loading = engine.load({ ...book, eventSchemas: [consuming, ...others] } as never);
  expect(await describeRefusal(loading)).toBe(
    'ERR_REFUSED the usage of the event schema "call" cannot be external: it consumes credits of the feature "feature.tokens", which requires events in order',
  );
  await engine.load(teamBook());
});

describe("rows of external usage of a meter with groups", () => {
  const book = {
    eventSchemas: [{ name: "call", attributes: ["count"], dimensions: ["model", "kind"] }],
    usageMeters: [
      { id: "tokens", schema: "call", sum: "count", groupBy: ["model", "kind"] },
      { id: "all", schema: "call", sum: "count" },
    ],
    pricePlans: [{ id: "team", cycle: "MONTHLY", usage: [{ meter: "tokens", rate: "0.01" }] }],
    accounts: [{ id: "prod", plan: "team", from: "2024-01-01" }],
  } as const;
  const rowOf = (quantity: number | string, model: string | number, kind = "in", date = "2024-01-03") =>
    ({ ...usageRow(date, quantity, "tokens"), group: { kind, model } }) satisfies UsageRowInput;

  test("S17.1 S17.4 add up by group, and late usage is that of the group", async () => {
    const given = [rowOf(5, "nova"), rowOf("0.5", "nova"), rowOf(7, 2), rowOf(1, "2"), rowOf(100, "nova", "out")];
    const { engine, at, rows } = await engineWith(given, book);
    const range = { ...JANUARY, until: "2024-03-01" };
    const listGroups = async (): Promise<readonly string[]> =>
      (await engine.usage(range)).map(({ group, quantity }) => `${JSON.stringify(group)} ${quantity.toFixed()}`);
    at("2024-01-20");
    const usage = [
      '{"model":"2","kind":"in"} 8',
      '{"model":"nova","kind":"in"} 5.5',
      '{"model":"nova","kind":"out"} 100',
    ];
    expect(await listGroups()).toEqual(usage);
    await at("2024-02-02").finalize();
    rows.push(rowOf(2, "nova"), rowOf(3, "mini"));
    expect(await listGroups()).toEqual(usage);
    const [late] = await engine.lateUsage(range);
    expect(late?.cells.map(({ group, late: quantity }) => [group, quantity.toFixed()])).toEqual([
      [{ model: "mini", kind: "in" }, "3"],
      [{ model: "nova", kind: "in" }, "2"],
    ]);
    expect(late?.lateAmount.toFixed()).toBe("0.05");
    rows.push(...Array.from({ length: 1001 }, (_, index) => rowOf(1, `m${index}`, "in", "2024-02-01")));
    expect(await describeRefusal(engine.usage(range))).toBe(
      'ERR_USAGE_UNAVAILABLE the usage in the rows of the test cannot be read: the account "prod" has more than 1000 groups of the meter "tokens" on 2024-02-01',
    );
  });

  test("S17.4 S18.3 S18.5 late usage of a price table costs what its row charges for it", async () => {
    const tiers = [{ upTo: 10, rate: "0.30" }, { rate: "0.20" }];
    const rateTable = { allowance: { quantity: 1 }, rows: [{ when: { model: "nova" }, tiers }] };
    const pricePlans = [{ ...book.pricePlans[0], usage: [{ meter: "tokens", rateTable }] }];
    const { engine, at, rows } = await engineWith([rowOf(8, "nova")], { ...book, pricePlans });
    await at("2024-02-02").finalize();
    rows.push(rowOf(6, "nova", "out", "2024-01-29"), rowOf(3, "mini"));
    // 7 × 0.30; then 10 × 0.30 and 3 × 0.20. No row prices mini.
    expect(await listLateAmounts(engine)).toEqual(["2.1 3.6 1.5"]);
  });

  test.each([
    [{ group: { model: "nova" } }, 'the usage meter "tokens" groups usage by "kind", which the row lacks'],
    [{ group: undefined }, 'the usage meter "tokens" groups usage by "model", which the row lacks'],
    [{ group: { model: "", kind: "in" } }, "group.model: expected a string of 1 to 512 characters"],
    [{ group: { model: "x", kinds: "in" } }, 'the usage meter "tokens" has no groups by "kinds": did you mean "kind"?'],
    [{ meterId: "all" }, 'the usage meter "all" has no groups by "kind"'],
  ])("are rejected with %j", (change, message) => {
    const run = createPreview(book);
    expect(() => {
      run.addUsage({ ...rowOf(1, "nova"), ...change });
    }).toThrow(message);
  });

  test("of more than 1,000 groups on a day are rejected", () => {
    const run = createPreview(book);
    for (let index = 0; index < 1000; index++) run.addUsage(rowOf(1, `m${index}`));
    run.addUsage(rowOf(1, "m7"));
    run.addUsage(rowOf(0, "none"));
    expect(() => {
      run.addUsage(rowOf(1, "other"));
    }).toThrow(
      'the account has usage of 1000 groups of the meter "tokens" on 2024-01-03, the maximum; use dimensions with fewer values',
    );
  });
});

describe("S17.5 an unreadable source", () => {
  test("stops a bill run before it changes anything, and the next one continues", async () => {
    const { engine, at, setAway } = await engineWith([usageRow("2024-01-03", 5)]);
    at("2024-02-02");
    setAway(true);
    for (const operation of [
      () => engine.finalize(),
      () => engine.invoices.list({ filter: { accountId: "prod" } }),
      () => engine.preview(),
      () => engine.ingest([countEvent("s1", "2024-02-01T00:00:00Z", 1, "save")]),
      () => engine.usage(JANUARY),
    ]) {
      expect(await describeRefusal(operation())).toBe(
        "ERR_USAGE_UNAVAILABLE the usage in the rows of the test cannot be read: connection refused",
      );
    }
    setAway(false);
    expect((await engine.events.list({})).items).toEqual([]);
    expect(await usageLines(engine)).toEqual(["DRAFT 2024-02-01", "DUE 2024-01-01 um.calls 5"]);
    expect(await engine.finalize()).toMatchObject({ finalized: 1, skipped: 0 });
  });

  test.each([
    ["an unknown meter", usageRow("2024-01-03", 1, "um.nothing"), /it has rows of the unknown meter "um.nothing"/],
    ["a meter whose events are ingested", usageRow("2024-01-03", 1, "um.writes"), /of its schema "save" are ingested/],
    ["no decimal", usageRow("2024-01-03", "1e"), /"1e" is not a decimal/],
  ])("is one with rows of %s: other rows are not used either", async (_, wrong, why) => {
    const { at, rows } = await engineWith([usageRow("2024-01-03", 5)]);
    const engine = at("2024-01-05");
    expect(await usageLines(engine)).toEqual(["DRAFT 2024-01-01 um.calls 5"]);
    rows.push(wrong);
    expect(await describeRefusal(engine.preview())).toMatch(why);
  });

  test("is one that returns cells that were not requested", async () => {
    const source: UsageSource = {
      name: "a wrong one",
      async *cells({ from, accounts: [account] }) {
        yield [{ accountId: account?.id ?? "", meterId: "um.calls", day: from - 1, quantity: new Decimal(1) }];
      },
    };
    const { engine } = engineAt("2024-02-02", memoryStore(), { usage: { schemas: ["call"], source } });
    await engine.load(teamBook());
    expect(await describeRefusal(engine.preview())).toMatch(/^ERR_USAGE_UNAVAILABLE .*which was not requested$/);
  });
});

describe("S17.5 an engine without the source of external usage", () => {
  const call = (id: string) => countEvent(id, "2024-02-01T00:00:00Z", 1);
  /** An engine that has the source, and others over its store that do not have it. */
  async function start() {
    const { at, store } = await engineWith([usageRow("2024-01-03", 5)]);
    const openOther = (options?: Parameters<typeof engineAt>[2]) => engineAt("2024-02-02", store, options).engine;
    return { withSource: at("2024-02-02"), openOther };
  }

  test("bills none of it and rejects its events, if another engine over the store has the source", async () => {
    const { withSource, openOther } = await start();
    const other = openOther();
    for (const operation of [
      async () => other.finalize(),
      async () => other.preview(),
      async () => other.invoices.list({ filter: { accountId: "prod" } }),
      async () => other.usage(JANUARY),
      async () => other.ingest([call("c1")]),
    ]) {
      expect(await describeRefusal(operation())).toBe(
        'ERR_USAGE_UNAVAILABLE usage of the event schema "call" is external, and this engine has no source for it; start it with the option usage (--usage and --usage-schemas on the command line)',
      );
    }
    expect(await withSource.finalize()).toMatchObject({ finalized: 1, skipped: 0 });
    expect(await usageLines(withSource)).toContain("DUE 2024-01-01 um.calls 5");
    expect(await collectStatuses(other, call("c1"))).toEqual(["INGESTION_REFUSED"]);
  });

  test("bills none of it if it has only a source for other schemas", async () => {
    const { openOther } = await start();
    const source = usageFromRows({ name: "other rows", read: () => [] });
    const other = openOther({ usage: { schemas: ["save"], source } });
    expect(await describeRefusal(other.finalize())).toContain('usage of the event schema "call" is external');
  });

  test("accepts the events once it is configured to ingest them again, and so do other engines after that", async () => {
    const { openOther } = await start();
    const engines = [openOther({ resumeIngest: ["call"] }), openOther()];
    for (const [place, engine] of engines.entries())
      expect(await collectStatuses(engine, call(`c${place}`))).toEqual(["INGESTION_COMPLETED_EVENT_METERED"]);
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
