/** Opening databases of earlier layout versions. */
import { beforeEach, describe, expect, test } from "vitest";

import { createEngine } from "../../src/engine/engine.ts";
import { allLines, netTotal } from "../../src/invoicing/invoice.ts";
import type { CreditListFilter } from "../../src/ledger/view.ts";
import { commit } from "../../src/store/conformance/case.ts";
import { account, cell, credit, event, newEvent, NOON, TODAY } from "../../src/store/conformance/samples.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import { idKey } from "../../src/store/postgres/query.ts";
import { parseRecord, serializeRecord } from "../../src/store/record-json.ts";
import type { Store } from "../../src/store/store.ts";
import { insertRows, keptDatabase, readWithoutCreditKinds, readState } from "./layout-database.ts";

/** The version of the first release, the one before usage was stored by group, and the current one. */
const [FIRST, BEFORE_GROUPS, LATEST] = [3, 9, 11];

const database = keptDatabase();

describe.each([FIRST, BEFORE_GROUPS])("a database of version %i", (version) => {
  beforeEach(async () => {
    if (version === BEFORE_GROUPS) await database.replaceByCurrent();
  });

  test("has every event, cell, entry and invoice once it is opened", async () => {
    const store = await postgresStore(database.pool, { schema: "kept" });
    const expected = parseRecord(JSON.stringify(database.contents.state));
    expect(await readState(store)).toEqual(expected);
    // By hand: the events of account a on 3 June count 2 and 0.125, which the third meter multiplies by three.
    const plain =
      "select quantity::text from kept.usage where account_id = 'a' and meter_id = 'um.three' and day = 19877";
    expect((await database.pool.query(plain)).rows).toEqual([{ quantity: "6.375" }]);
    expect(await database.version()).toBe(LATEST);
    // Lists show older invoices, and it is not known yet which drafts they show.
    const page = await store.read.invoiceList({}, { limit: 100 });
    const sortIds = (invoices: readonly { readonly id: string }[]): readonly string[] =>
      invoices.map(({ id }) => id).toSorted();
    expect(sortIds(page)).toEqual(sortIds(await store.read.invoices(["a", "b"], Number.NEGATIVE_INFINITY)));
    expect(page).not.toEqual([]);
    expect(await store.read.accountsWithStaleDraftIndex(NOON, 10)).toEqual(["a", "b"]);
  });

  test("accepts new events in addition to the old ones, and undoes an old one that is stored with a shared form", async () => {
    const store = await postgresStore(database.pool, { schema: "kept" });
    const engine = createEngine({ store, clock: () => Date.parse("2024-07-15T00:00:00Z") });
    const call = {
      schemaName: "call",
      accountId: "b",
      timestamp: "2024-07-14T00:00:00Z",
      attributes: [{ name: "count", value: 2 }],
      dimensions: { region: "eu" },
    };
    const events = [
      { ...call, id: "new" },
      { ...call, id: "f0" },
    ];
    const results = await engine.ingest(events);
    // The id of an earlier event is still remembered: its cycle has ended, but not its 30 days.
    expect(results.map(({ status }) => status)).toEqual([
      "INGESTION_COMPLETED_EVENT_METERED",
      "INGESTION_FAILED_DUPLICATE_EVENT",
    ]);
    const quantities = (await store.read.usage(["b"], 19_918, 19_919)).map(
      ({ meterOrFeatureId, quantity }) => `${meterOrFeatureId} ${quantity.toFixed()}`,
    );
    expect(quantities.toSorted()).toEqual(["um.five 10", "um.four 8", "um.one 2", "um.three 6", "um.two 4"]);
  });
});

describe("a database of the first release", () => {
  test("lists its credits by status", async () => {
    const rows = [
      ["c.open", "10", "9.99", {}],
      ["c.spent", "10", "10.00", { effectiveUntil: 5 }],
      ["c.over", "10", "0", { effectiveUntil: 5 }],
      ["c.void", "10", "0", { voided: true }],
    ] as const;
    for (const [id, amount, consumedAmount, more] of rows) {
      const body = serializeRecord({ ...credit("z", id), creditAmount: undefined, consumedAmount: undefined, ...more });
      const values = [id, amount, consumedAmount, body];
      await database.pool.query(
        `insert into kept.credit (id, account_id, created_at, credit_amount, consumed_amount, body)
          values ($1, 'z', 77, $2, $3, $4)`,
        values,
      );
    }
    const { read } = await postgresStore(database.pool, { schema: "kept" });
    const sortIds = async (filter: CreditListFilter): Promise<readonly string[]> =>
      (await read.creditList({ ...filter, accountId: "z" }, { limit: 9 })).map(({ id }) => id);
    expect(await sortIds({ state: "ACTIVE" })).toEqual(["c.open", "c.over"]);
    expect(await sortIds({ state: "ACTIVE", endsBy: 5 })).toEqual(["c.over"]);
    expect(await sortIds({ state: "ACTIVE", endsAfter: 5 })).toEqual(["c.open"]);
    expect(await sortIds({ state: "CONSUMED" })).toEqual(["c.spent"]);
    expect(await sortIds({ state: "VOIDED" })).toEqual(["c.void"]);
  });

  test("keeps ids that no column can store, sums of many days and of more meters than a row has columns", async () => {
    const long = "m".repeat(200);
    const meters = ["m0", "m1", "m2", "m3", "m4", long];
    for (const [index, meter] of meters.entries()) {
      const original = meter === long ? JSON.stringify(long) : null;
      await database.pool.query("insert into kept.item (id, place, item) values ($1, $2, $3)", [
        idKey(meter),
        100 + index,
        original,
      ]);
    }
    await database.pool.query(`insert into kept.usage values ('z', 10, 25, 1, 2, 3, 4), ('z', 10, 26, 5, 6, 0, 0),
      ('z', 11, 25, 0.5, 0.5, 0.5, 0.5), ('z', 11, 26, 0.5, 0.5, 0, 0)`);
    const { read } = await postgresStore(database.pool, { schema: "kept" });
    const cells = (await read.usage(["z"], 10, 12)).map(
      ({ meterOrFeatureId, day, quantity }) => `${day} ${meterOrFeatureId} ${quantity.toFixed()}`,
    );
    const expected = meters.flatMap((meter, index) => [`10 ${meter} ${index + 1}`, `11 ${meter} 0.5`]);
    expect(cells.toSorted()).toEqual(expected.toSorted());
  });

  test("has the columns, indexes and constraints of a new one after its migration", async () => {
    await postgresStore(database.pool, { schema: "kept" });
    const migrated = await readSchema("kept");
    await postgresStore(database.pool, { schema: "new" });
    expect(migrated).toEqual(await readSchema("new"));
    await database.replaceByCurrent();
    await postgresStore(database.pool, { schema: "kept" });
    expect(await readSchema("kept")).toEqual(migrated);
  });

  test("is migrated: usage is added to its cells, and its events come before new ones", async () => {
    await database.pool.query(`insert into kept.item (id, place) values ('m', 101);
      insert into kept.usage values ('y', ${TODAY}, 25, 0, 1, 0, 0);
      insert into kept.event (reference_id, account_id, number, event_id, holds, schema_name, status, timestamp, created_at,
          reverted, body)
        values ('old', 'y', 5000, 'old', 0, 's', 'INGESTION_COMPLETED_EVENT_METERED', ${NOON}, ${NOON}, false,
          '{"customer":"c","attributes":[],"dimensions":{},"units":[["m","1"]]}')`);
    const store = await postgresStore(database.pool, { schema: "kept" });
    await commit(store, {
      accounts: [account("y")],
      newEvents: [newEvent(event("y", 1))],
      usage: [cell("y", "m", TODAY, "2")],
    });
    const usage = await store.read.usage(["y"], TODAY, TODAY + 1);
    expect(usage.map(({ meterOrFeatureId, quantity }) => `${meterOrFeatureId} ${quantity.toFixed()}`)).toEqual(["m 3"]);
    const events = await store.read.eventsToUndo("y", {}, 9);
    expect(events.map(({ eventId }) => eventId)).toEqual(["old", "event.y.1"]);
  });
});

test("a database of the version before bounds of the number of groups gets their table", async () => {
  await postgresStore(database.pool, { schema: "kept" });
  const tables = await readSchema("kept");
  await database.pool.query(`drop table kept.usage_group_bound;
    truncate kept.migration; insert into kept.migration (version) values (10)`);
  await postgresStore(database.pool, { schema: "kept" });
  expect(await readSchema("kept")).toEqual(tables);
  expect(await database.version()).toBe(LATEST);
});

test.each([
  [1, "which no release of ratebook has created"],
  [8, "which no release of ratebook has created"],
  [LATEST + 1, "from a newer ratebook"],
])("a database of version %i is rejected and unchanged", async (version, reason) => {
  await database.pool.query(`truncate kept.migration; insert into kept.migration (version) values (${version})`);
  const tables = await readSchema("kept");
  await expect(postgresStore(database.pool, { schema: "kept" })).rejects.toMatchObject({
    code: "ERR_REFUSED",
    message: expect.stringContaining(`the database has version ${version}`) as string,
  });
  await expect(postgresStore(database.pool, { schema: "kept" })).rejects.toThrow(reason);
  expect(await readSchema("kept")).toEqual(tables);
});

/** The columns, indexes and constraints of a schema; the names that PostgreSQL chose may differ. */
async function readSchema(schema: string): Promise<unknown> {
  const readTexts = async (text: string): Promise<readonly string[]> => {
    const { rows } = await database.pool.query<Record<string, unknown>>(text, [schema]);
    return rows.map((row) => JSON.stringify(row).replaceAll(`${schema}.`, "")).toSorted();
  };
  return {
    columns: await readTexts(`select table_name, column_name, data_type, collation_name, is_nullable, column_default
      from information_schema.columns where table_schema = $1`),
    indexes: await readTexts(`select tablename, regexp_replace(indexdef, 'INDEX \\S+ ON', 'INDEX ON') as definition
      from pg_indexes where schemaname = $1`),
    checks: await readTexts(`select relname, conname, pg_get_constraintdef(c.oid) as definition from pg_constraint as c
      join pg_class on pg_class.oid = conrelid where contype = 'c' and relnamespace = $1::regnamespace`),
    options: await readTexts(`select relname, relkind, reloptions::text from pg_class
      where relkind in ('r', 'v', 'S') and relnamespace = $1::regnamespace`),
    views: await readTexts("select viewname, definition from pg_views where schemaname = $1"),
  };
}

describe("credits, entries and events without kinds, from earlier versions", () => {
  const expectKinds = async ({ read }: Store): Promise<void> => {
    const kinds = (await read.credits(["less", "moved"])).map(({ purpose, kind }) => `${kind}: ${purpose}`);
    expect(kinds.toSorted()).toEqual([
      "MANUAL: invoice below zero",
      "NEGATIVE_INVOICE: invoice below zero",
      "PLAN: invoice below zero",
      "REFUND: refund of what was charged in advance and not served",
    ]);
    const invoices = (await read.invoices(["less", "moved"], Number.NEGATIVE_INFINITY)).map(({ invoice }) => invoice);
    const creditAmounts = invoices.flatMap(({ accountId, revenueInfo }) =>
      allLines(revenueInfo)
        .filter(({ type }) => type === "SUB_CREDITS")
        .map(({ creditKind, value }) => `${accountId} ${creditKind} ${value.toFixed()}`),
    );
    expect(creditAmounts.toSorted()).toEqual([
      "less MANUAL -1",
      "less NEGATIVE_INVOICE -1",
      "moved PLAN -3",
      "moved REFUND -20",
    ]);
    const accountTotal = (accountId: string): string =>
      netTotal(invoices.filter((invoice) => invoice.accountId === accountId)).toFixed();
    // 2 − 5, less the credit of 1: 4 are left of the discount. And 30 − 3, then 60 × 20/30 − 20.
    expect([accountTotal("less"), accountTotal("moved")]).toEqual(["-4", "47"]);
    const descriptions = (await read.events({}, { limit: 99 }))
      .filter(({ createdAt }) => createdAt < Date.parse("2024-02-01"))
      .map(({ eventId, description }) => `${eventId}: ${description}`);
    expect(descriptions.toSorted()).toEqual([
      "bare: The event's schema has no active meter and no feature.",
      "early: The timestamp 2025-01-01T00:00:00.000Z is too far after the time of ingest, 2024-01-10T00:00:00.000Z.",
      "metered: The event was metered.",
      "not billed: The event was metered, but no price plan is in force at its timestamp.",
      "not metered: The event matches no meter of its schema and consumed no feature credits.",
      'unfit: The attribute "count" is invalid: "x" is not a decimal.',
      'unknown: No account has the id or alias "nobody".',
    ]);
  };

  test("have kinds in a database after its migration, and descriptions of accepted events follow from their status", async () => {
    const { rows } = await readWithoutCreditKinds();
    await insertRows(database.pool, rows);
    // A message of another version.
    await database.pool.query(
      "update kept.event set body = replace(body, 'The event was metered, but', 'Metered; but')",
    );
    await expectKinds(await postgresStore(database.pool, { schema: "kept" }));
  });

  /** The requested values of each entry by its key: 10 until June were requested, then the entry was changed to 12.5 until July. */
  const expectRequestedValues = async ({ read }: Store): Promise<void> => {
    const entries = await read.entries(["less"]);
    const until = (month: string): number => Date.parse(`2024-${month}-01T00:00:00Z`);
    expect(
      entries.map(({ idempotencyKey, granted, effectiveUntil, requested }) => [
        idempotencyKey,
        granted.toFixed(),
        effectiveUntil,
        requested && [requested.granted.toFixed(), requested.effectiveUntil],
      ]),
    ).toEqual([
      ["changed", "12.5", until("07"), ["10", until("06")]],
      ['same,"asked":{', "10", until("06"), undefined],
    ]);
    for (const entry of entries) expect(entry).not.toHaveProperty("asked");
  };

  test("entries have their requested values in a database after its migration, and in a memory store", async () => {
    const { rows, snapshot } = await readWithoutCreditKinds();
    await insertRows(database.pool, rows);
    await expectRequestedValues(await postgresStore(database.pool, { schema: "kept" }));
    await expectRequestedValues(memoryStore({ snapshot }));
  });

  test("have kinds in a memory store that is restored from a snapshot", async () => {
    const { snapshot } = await readWithoutCreditKinds();
    await expectKinds(memoryStore({ snapshot: snapshot.replace("The event was metered, but", "Metered; but") }));
  });
});
