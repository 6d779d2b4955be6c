/** Concurrent single events over PostgreSQL: one commit for many, each with its own answer. */
import type { PoolClient } from "pg";
import { describe, expect, test } from "vitest";

import type { ShortBookInput } from "../../src/book/resources/book.ts";
import { createEngine, type Engine } from "../../src/engine/engine.ts";
import { hasCode } from "../../src/errors.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { createGate } from "../../src/store/conformance/case.ts";
import type { ConnectionPool, PostgresClient } from "../../src/store/postgres/client.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import type { Store } from "../../src/store/store.ts";
import { sleep } from "../../src/store/yielder.ts";
import { morningCall, CALLS_BOOK } from "./calls.ts";
import { poolThat, privateDatabase } from "./test-databases.ts";

/** Metered but not billed: the accounts have no plans. */
const METERED = "INGESTION_COMPLETED_EVENT_NOT_BILLED";
const DUPLICATE = "INGESTION_FAILED_DUPLICATE_EVENT";
/** 1 June 2024 as a day since 1970. */
const DAY = 19_875;
const NOON = Date.parse("2024-06-01T12:00:00Z");

const database = privateDatabase();
let schemas = 0;

interface Opened {
  readonly engine: Engine;
  readonly schema: string;
  readonly store: Store;
}

/** An engine with the book in its own schema. */
async function openEngine({
  client = database.pool,
  clock = () => NOON,
  change = (store) => store,
  book = CALLS_BOOK,
}: {
  readonly client?: PostgresClient;
  readonly clock?: () => number;
  readonly change?: (store: Store) => Store;
  readonly book?: ShortBookInput;
} = {}): Promise<Opened> {
  const schema = `group_${(schemas += 1)}`;
  const store = await postgresStore(client, { schema });
  const engine = createEngine({ store: change(store), clock });
  await engine.load(book);
  // Initial work, such as loading the accounts' plans, is done.
  await engine.ingest([morningCall("warm a", "a", 0), morningCall("warm b", "b", 0)]);
  return { engine, schema, store };
}

/**
 * Sends events one by one, all at once.
 *
 * @returns the status of each, or its error
 */
async function sendAll(engine: Engine, events: readonly EventInput[]): Promise<readonly unknown[]> {
  const ingestStatus = async (event: EventInput): Promise<unknown> => (await engine.ingest([event]))[0]?.status;
  return Promise.all(events.map((event) => ingestStatus(event).catch((error: unknown) => error)));
}

async function usageOf(store: Store, accountId: string): Promise<string | undefined> {
  return (await store.read.usage([accountId], DAY, DAY + 1))[0]?.quantity.toFixed();
}

function singles(count: number, accountId = "a"): readonly EventInput[] {
  return Array.from({ length: count }, (_, place) => morningCall(`single ${accountId} ${place}`, accountId));
}

/** A pool that replaces a commit by another action, as often as requested. */
function withCommit(
  instead: (connection: PoolClient) => Promise<unknown>,
): ConnectionPool & { pending: number; commits: number } {
  const counts = { pending: 0, commits: 0 };
  const pool = poolThat(database.pool, async (connection, statement) => {
    if (statement.text === "commit") counts.commits += 1;
    if (statement.text !== "commit" || counts.pending === 0) return connection.query(statement);
    counts.pending -= 1;
    await instead(connection);
    throw new Error("Connection terminated unexpectedly");
  });
  return Object.assign(counts, pool);
}

describe("concurrent single events", () => {
  test("S14.3 share one commit after that of the first one, and count once each", async () => {
    const client = withCommit(async () => {});
    const { engine, store } = await openEngine({ client });
    const before = client.commits;
    expect(await sendAll(engine, singles(64))).toEqual(Array.from({ length: 64 }, () => METERED));
    expect(client.commits - before).toBe(2);
    expect(await usageOf(store, "a")).toBe("64");
  });

  test("S14.1 with the same id are one accepted event, and duplicates of it", async () => {
    const { engine, store } = await openEngine();
    const results = await Promise.all(Array.from({ length: 64 }, () => engine.ingest([morningCall("same", "a", 3)])));
    const statuses = results.flatMap((each) => each.map(({ status }) => status));
    expect(statuses.toSorted()).toEqual([METERED, ...Array.from({ length: 63 }, () => DUPLICATE)].toSorted());
    expect(new Set(results.flatMap((each) => each.map(({ referenceId }) => referenceId))).size).toBe(1);
    expect(await usageOf(store, "a")).toBe("3");
  });

  test("are the only ones to fail, with their own reason, if they can't be committed", async () => {
    const reason = new Error("this account cannot be written");
    const change = (store: Store): Store => ({
      ...store,
      transact: (scope, work) =>
        scope.eventIds.includes("poisoned") ? Promise.reject(reason) : store.transact(scope, work),
    });
    const { engine, store } = await openEngine({ change });
    const events = [...singles(20), morningCall("poisoned"), ...singles(20, "b")];
    const expected = events.map((_, place) => (place === 20 ? reason : METERED));
    expect(await sendAll(engine, events)).toEqual(expected);
    expect([await usageOf(store, "a"), await usageOf(store, "b")]).toEqual(["20", "20"]);
  });

  test.each([
    ["was done", "commit"],
    ["was lost", "rollback"],
  ])("are checked once if their commit is cut off and %s, and count once", async (_, what) => {
    const client = withCommit((connection) => connection.query(what));
    const { engine, store } = await openEngine({ client });
    const first = engine.ingest([morningCall("first")]);
    const others = sendAll(engine, singles(30));
    await first;
    client.pending = 1;
    expect(await others).toEqual(Array.from({ length: 30 }, () => METERED));
    expect(await usageOf(store, "a")).toBe("31");
  });

  test("wait for no account that another transaction has locked, except those of their own commit", async () => {
    const { engine, schema, store } = await openEngine();
    const locker = await database.pool.connect();
    await locker.query(`begin; select * from ${schema}.ledger where id = 'a' for update`);
    const waiting = sendAll(engine, singles(3));
    expect(await sendAll(engine, singles(30, "b"))).toEqual(Array.from({ length: 30 }, () => METERED));
    expect(await usageOf(store, "a")).toBeUndefined();
    await locker.query("commit");
    locker.release();
    expect(await waiting).toEqual([METERED, METERED, METERED]);
    expect([await usageOf(store, "a"), await usageOf(store, "b")]).toEqual(["3", "30"]);
  });

  test("are the only ones of a commit to fail if a sum would have too many digits, and all others count", async () => {
    const { engine, schema, store } = await openEngine();
    await engine.ingest([morningCall("one", "b")]);
    // As many digits as a sum may have: one more call exceeds them.
    const full = `${"9".repeat(60)}.${"0".repeat(39)}1`;
    await database.pool.query(`update ${schema}.usage_cells set quantity_0 = ${full} where account_id = 'b'`);
    for (let turn = 0; turn < 6; turn++) {
      const events = singles(8).map((event) => ({ ...event, id: `${turn} ${event.id}` }));
      // The first one commits alone, and the others together.
      events[1 + turn] = morningCall(`poisoned ${turn}`, "b");
      const outcomes = await sendAll(engine, events);
      const outcomeNames = outcomes.map((outcome) => (hasCode(outcome, "ERR_ARITHMETIC") ? "refused" : outcome));
      expect(outcomeNames).toEqual(events.map((_, place) => (place === 1 + turn ? "refused" : METERED)));
    }
    expect([await usageOf(store, "a"), await usageOf(store, "b")]).toEqual(["42", full]);
  });

  test("S16.5 wait for another server's migration of their accounts, and count in the new plan", async () => {
    const usage = [{ meter: "um.calls", rate: 1 }];
    const pricePlans = ["pp.old", "pp.new"].map((id) => ({ id, cycle: "MONTHLY", usage }) as const);
    const accounts = CALLS_BOOK.accounts.map((account) => ({ ...account, plan: "pp.old", from: "2024-06-01" }));
    const { engine, schema, store } = await openEngine({ book: { ...CALLS_BOOK, pricePlans, accounts } });
    const [[begun, begin], [gone, go]] = [createGate(), createGate()];
    const client = withCommit(async (connection) => {
      begin();
      await gone;
      await connection.query("commit");
    });
    const other = createEngine({ store: await postgresStore(client, { schema }), clock: () => NOON });
    client.pending = 1;
    const migration = other.migrate({
      sourceId: "pp.old",
      sourceVersion: 1,
      targetId: "pp.new",
      targetVersion: 1,
      mode: "IMMEDIATE",
    });
    await begun;
    const outcomes = sendAll(engine, [...singles(32), ...singles(32, "b")]);
    const waits = sleep(300).then(() => "nobody is answered");
    expect(await Promise.race([outcomes, waits])).toBe("nobody is answered");
    go();
    expect(await migration).toMatchObject({ total: 2, moved: 2 });
    expect(await outcomes).toEqual(Array.from({ length: 64 }, () => "INGESTION_COMPLETED_EVENT_METERED"));
    expect([await usageOf(store, "a"), await usageOf(store, "b")]).toEqual(["32", "32"]);
    const { items } = await engine.events.list({ page: { limit: 100 } });
    const places = await engine.events.cycles(items);
    expect(new Set(places.map((place) => place?.pricePlanId))).toEqual(new Set(["pp.new"]));
  });

  test("continue during a batch of ten thousand: none waits longer than for its commit", async () => {
    const [answered, answer] = createGate();
    // The batch is decided, but not committed before the others have their answers.
    const change = (store: Store): Store => ({
      ...store,
      transact: (scope, work) =>
        store.transact(scope, async (view) => {
          const decision = await work(view);
          if (scope.eventIds.length === 10_000) await answered;
          return decision;
        }),
    });
    const { engine, store } = await openEngine({ change });
    const large = engine.ingest(Array.from({ length: 10_000 }, (_, place) => morningCall(`large ${place}`)));
    expect(await sendAll(engine, singles(64, "b"))).toEqual(Array.from({ length: 64 }, () => METERED));
    answer();
    expect((await large).every(({ status }) => status === METERED)).toBe(true);
    expect([await usageOf(store, "a"), await usageOf(store, "b")]).toEqual(["10000", "64"]);
  });

  test("are all accepted while the clock jumps back, and undone in the order in which they were answered", async () => {
    let now = NOON;
    const { engine, store } = await openEngine({ clock: () => (now -= 1_000) });
    expect(await sendAll(engine, singles(20))).toEqual(Array.from({ length: 20 }, () => METERED));
    const storedEvents = await store.read.eventsToUndo("a", {}, 30);
    const ids = storedEvents.map(({ eventId }) => eventId).filter((id) => id.startsWith("single"));
    expect(ids).toEqual(Array.from({ length: 20 }, (_, place) => `single a ${place}`));
  });
});
