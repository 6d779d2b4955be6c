/** Databases of earlier versions of the layout are opened by this one. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Pool, type QueryConfig } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { createEngine } from "../../src/engine/engine.ts";
import type { CreditListFilter } from "../../src/ledger/view.ts";
import { account, cell, credit, event, newEvent, NOON, TODAY } from "../../src/store/conformance/samples.ts";
import { openPrivateServer, type PrivateServer } from "../../src/store/embedded/private-server.ts";
import type { ConnectionPool } from "../../src/store/postgres/client.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import { keyOf } from "../../src/store/postgres/values.ts";
import { recordOf, recordText } from "../../src/store/record-text.ts";
import type { Store } from "../../src/store/store.ts";

/**
 * A database as version 3 of the layout had it, in the schema `kept`: the statements that made it, its rows as JSON, and what
 * was read of it. Two accounts sent 54 events, some alike (which have forms) and some not; one was undone, four took feature
 * credits of which there were two, one cycle was invoiced.
 */
interface Kept {
  readonly statements: readonly string[];
  readonly eventNumber: number;
  readonly rows: Readonly<Record<string, readonly string[]>>;
  readonly state: unknown;
}

/** What a later version made of it: statements. */
type LaterVersion = Pick<Kept, "statements">;

const HOOK_MS = 60_000;
/** The version that databases are brought to. */
const LATEST = 7;

let kept: Kept;
let later: readonly LaterVersion[];
let directory: string;
let server: PrivateServer;
let pool: Pool;

beforeEach(async () => {
  kept = JSON.parse(await readFile(new URL("version-3.json", import.meta.url), "utf8")) as Kept;
  const files = ["version-4.json", "version-5.json"].map((name) => readFile(new URL(name, import.meta.url), "utf8"));
  later = (await Promise.all(files)).map((text) => JSON.parse(text) as LaterVersion);
  directory = await mkdtemp(join(tmpdir(), "ratebook-test-"));
  server = await openPrivateServer(directory);
  pool = new Pool(server.connection).on("error", () => {});
  await makeKept();
}, HOOK_MS);

afterEach(async () => {
  await pool.end();
  await server.close();
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
}, HOOK_MS);

async function makeKept(): Promise<void> {
  for (const statement of kept.statements) await pool.query(statement);
  await pool.query("delete from kept.configuration");
  for (const [table, rows] of Object.entries(kept.rows)) {
    for (const row of rows) {
      await pool.query(`insert into kept.${table} select * from json_populate_record(null::kept.${table}, $1)`, [row]);
    }
  }
  await pool.query("select setval('kept.event_number', $1)", [kept.eventNumber]);
}

/** Brings the database from version 3 to a later one by the statements that did it then. */
async function bringTo(version: number): Promise<void> {
  for (const { statements } of later.slice(0, version - 3)) {
    for (const statement of statements) await pool.query(statement);
  }
}

async function stateOf({ read }: Store): Promise<unknown> {
  const page = { limit: 1_000 };
  const days = [19_800, 20_000] as const;
  const inOrder = <Cell extends { accountId: string; meterOrFeatureId: string; day: number }>(
    cells: readonly Cell[],
  ): readonly Cell[] => {
    const key = ({ accountId, meterOrFeatureId, day }: Cell): string =>
      JSON.stringify([accountId, meterOrFeatureId, day]);
    return cells.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
  };
  return {
    accounts: await read.accountList({}, page),
    events: await read.events({}, page),
    usage: inOrder(await read.usage(["a", "b"], ...days)),
    overage: inOrder(await read.overage(["a", "b"], ...days)),
    entries: await read.entries(["a", "b"]),
    credits: await read.credits(["a", "b"]),
    invoices: await read.invoices(["a", "b"]),
    overageEvents: (await read.eventsWithOverage("a", "tokens", ...days)).map(({ eventId }) => eventId),
  };
}

async function versionOf(): Promise<unknown> {
  return (await pool.query("select max(version) as version from kept.migration")).rows[0];
}

/** A pool whose connections do something before a statement. */
function before(pattern: RegExp, act: () => Promise<void>): ConnectionPool {
  return {
    async connect() {
      const connection = await pool.connect();
      return {
        async query(statement: QueryConfig) {
          if (pattern.test(statement.text)) await act();
          return connection.query(statement);
        },
        on: (event, listener) => connection.on(event, listener),
        off: (event, listener) => connection.off(event, listener),
        release: (error) => connection.release(error),
      };
    },
  };
}

describe.each([3, 4, 5])("a database of version %i", (version) => {
  beforeEach(() => bringTo(version), HOOK_MS);

  test("has after its migration every event, cell, entry and invoice that it had", async () => {
    const store = await postgresStore(pool, { schema: "kept" });
    const expected = recordOf(JSON.stringify(kept.state));
    expect(await stateOf(store)).toEqual(expected);
    // By hand: the events of account a on 3 June count 2 and 0.125, which the third meter takes three times.
    const plain =
      "select quantity::text from kept.usage where account_id = 'a' and meter_id = 'um.three' and day = 19877";
    expect((await pool.query(plain)).rows).toEqual([{ quantity: "6.375" }]);
    expect(await versionOf()).toEqual({ version: LATEST });
    // Lists show what was invoiced before there were any, and nobody knows yet which drafts they show.
    const listed = await store.read.invoiceList({}, { limit: 100 });
    const ids = (invoices: readonly { readonly id: string }[]): readonly string[] =>
      invoices.map(({ id }) => id).toSorted();
    expect(ids(listed)).toEqual(ids(await store.read.invoices(["a", "b"])));
    expect(listed).not.toEqual([]);
    expect(await store.read.accountsUncharted(NOON, 10)).toEqual(["a", "b"]);
  }, 60_000);

  test("lists the credits that it had by what became of them", async () => {
    const rows = [
      ["c.open", "10", "9.99", {}],
      ["c.spent", "10", "10.00", { effectiveUntil: 5 }],
      ["c.over", "10", "0", { effectiveUntil: 5 }],
      ["c.void", "10", "0", { voided: true }],
    ] as const;
    for (const [id, amount, consumed, more] of rows) {
      const body = recordText({ ...credit("z", id), creditAmount: undefined, consumedAmount: undefined, ...more });
      const values = [id, amount, consumed, body];
      await pool.query(
        `insert into kept.credit (id, account_id, created_at, credit_amount, consumed_amount, body)
          values ($1, 'z', 77, $2, $3, $4)`,
        values,
      );
    }
    const { read } = await postgresStore(pool, { schema: "kept" });
    const ids = async (filter: CreditListFilter): Promise<readonly string[]> =>
      (await read.creditList({ ...filter, accountId: "z" }, { limit: 9 })).map(({ id }) => id);
    expect(await ids({ state: "ACTIVE" })).toEqual(["c.open", "c.over"]);
    expect(await ids({ state: "ACTIVE", endsBy: 5 })).toEqual(["c.over"]);
    expect(await ids({ state: "ACTIVE", endsAfter: 5 })).toEqual(["c.open"]);
    expect(await ids({ state: "CONSUMED" })).toEqual(["c.spent"]);
    expect(await ids({ state: "VOIDED" })).toEqual(["c.void"]);
  }, 60_000);

  test("goes on: new events count beside the old ones, and an old one with a form is undone", async () => {
    const store = await postgresStore(pool, { schema: "kept" });
    const engine = createEngine({ store, clock: () => Date.parse("2024-07-15T00:00:00Z") });
    const call = {
      schemaName: "call",
      accountId: "b",
      timestamp: "2024-07-14T00:00:00Z",
      attributes: [{ name: "count", value: 2 }],
      dimensions: { region: "eu" },
    };
    const sent = [
      { ...call, id: "new" },
      { ...call, id: "f0" },
    ];
    const results = await engine.ingest(sent);
    // The id of an event that came before is still known: its cycle is over, but not its 30 days.
    expect(results.map(({ status }) => status)).toEqual([
      "INGESTION_COMPLETED_EVENT_METERED",
      "INGESTION_FAILED_DUPLICATE_EVENT",
    ]);
    const quantities = (await store.read.usage(["b"], 19_918, 19_919)).map(
      ({ meterOrFeatureId, quantity }) => `${meterOrFeatureId} ${quantity.toFixed()}`,
    );
    expect(quantities.toSorted()).toEqual(["um.five 10", "um.four 8", "um.one 2", "um.three 6", "um.two 4"]);
  }, 60_000);

  // All versions on the way are one transaction: a later start does the last of the same steps.
  const killed: readonly (readonly [string, RegExp])[] = [
    ["as its invoices are replaced", /^drop table .*"invoice"/],
    ["as usage is made ready", /^insert into .*"usage_cells"/],
    ["as overage becomes a view", /^create view .*"overage"/],
    ["as it is committed", /^commit$/],
  ];

  test.each(version === 3 ? killed : killed.slice(0, 1))(
    "whose server is killed %s is as it was, and is migrated by the next one",
    async (_, pattern) => {
      const dying = before(pattern, async () => {
        process.kill(server.pid, "SIGKILL");
        await new Promise((resolve) => void setTimeout(resolve, 200));
      });
      await expect(postgresStore(dying, { schema: "kept" })).rejects.toMatchObject({ code: "ERR_STORE_UNAVAILABLE" });
      await pool.end();
      await server.close();
      server = await openPrivateServer(directory);
      pool = new Pool(server.connection).on("error", () => {});
      expect(await versionOf()).toEqual({ version });
      const store = await postgresStore(pool, { schema: "kept" });
      expect(await stateOf(store)).toEqual(recordOf(JSON.stringify(kept.state)));
    },
    90_000,
  );
});

describe("a database of version 4", () => {
  test("keeps ids that no column can hold, sums of many days and of more meters than a row has columns", async () => {
    await bringTo(4);
    const long = "m".repeat(200);
    const meters = ["m1", "m2", "m3", "m4", "m5", long];
    await pool.query("delete from kept.usage");
    for (const [place, meter] of meters.entries())
      await pool.query("insert into kept.usage values ('z', 10, $1, $2, $3), ('z', 11, $1, 0.5, $3)", [
        keyOf(meter),
        place + 1,
        meter === long ? JSON.stringify(long) : null,
      ]);
    const { read } = await postgresStore(pool, { schema: "kept" });
    const found = (await read.usage(["z"], 10, 12)).map(
      ({ meterOrFeatureId, day, quantity }) => `${day} ${meterOrFeatureId} ${quantity.toFixed()}`,
    );
    const expected = meters.flatMap((meter, place) => [`10 ${meter} ${place + 1}`, `11 ${meter} 0.5`]);
    expect(found.toSorted()).toEqual(expected.toSorted());
  }, 60_000);
});

describe("a database of the first version", () => {
  const first = 'insert into "kept"."migration" (version) values (1)';

  test("is brought to this one: its usage is added to, its events come before new ones", async () => {
    await pool.query("drop schema kept cascade");
    for (const statement of kept.statements.slice(0, kept.statements.indexOf(first) + 1)) await pool.query(statement);
    await pool.query(`insert into kept.item (id, place) values ('m', 5);
      insert into kept.usage values ('a', ${TODAY}, 1, 0, 1, 0, 0);
      insert into kept.event (reference_id, account_id, number, event_id, holds, schema_name, status, timestamp, created_at,
          reverted, body)
        values ('old', 'a', 5000, 'old', 0, 's', 'INGESTION_COMPLETED_EVENT_METERED', ${NOON}, ${NOON}, false,
          '{"customer":"c","attributes":[],"dimensions":{},"units":[["m","1"]]}')`);
    const store = await postgresStore(pool, { schema: "kept" });
    await store.transact({ configuration: "shared", accountIds: ["a"], eventIds: ["event.a.1"] }, async () => ({
      result: undefined,
      changes: { accounts: [account("a")], newEvents: [newEvent(event("a", 1))], usage: [cell("a", "m", TODAY, "2")] },
    }));
    const usage = await store.read.usage(["a"], TODAY, TODAY + 1);
    expect(usage.map(({ meterOrFeatureId, quantity }) => `${meterOrFeatureId} ${quantity.toFixed()}`)).toEqual(["m 3"]);
    const events = await store.read.eventsToUndo("a", {}, 9);
    expect(events.map(({ eventId }) => eventId)).toEqual(["old", "event.a.1"]);
  });

  test("or rather what was before it, whose tables had other columns, is refused", async () => {
    await pool.query("delete from kept.migration where version > 1; drop table kept.ledger");
    await expect(postgresStore(pool, { schema: "kept" })).rejects.toMatchObject({
      code: "ERR_REFUSED",
      message: expect.stringContaining("before its first release") as string,
    });
  });
});
