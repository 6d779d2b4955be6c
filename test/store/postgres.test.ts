import { Pool } from "pg";
import { describe, expect, test } from "vitest";

import type { Changes } from "../../src/ledger/decision.ts";
import type { EventRecord } from "../../src/ledger/records.ts";
import { storeConformance } from "../../src/store/conformance.ts";
import { commit } from "../../src/store/conformance/case.ts";
import { account, cell, event, newEvent, TODAY } from "../../src/store/conformance/samples.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import type { Store } from "../../src/store/store.ts";
import { emptiedStore, poolThat, privateDatabase } from "./test-databases.ts";

const database = privateDatabase();

describe("a database", () => {
  test("of a PostgreSQL without MERGE is rejected with both versions, before any other statement", async () => {
    const statements: string[] = [];
    const old = {
      query: async (text: string) => {
        statements.push(text);
        return { rows: [{ number: "140011", name: "14.11 (Debian 14.11-1)" }] };
      },
      transaction: () => Promise.reject(new Error("nothing is changed")),
    };
    await expect(postgresStore(old)).rejects.toThrow(
      expect.objectContaining({
        code: "ERR_REFUSED",
        message: "PostgreSQL 14.11 is too old: use version 15 or later",
      }),
    );
    expect(statements).toHaveLength(1);
  });

  test("whose tables exist can be opened and written by a user who may create none", async () => {
    await (await postgresStore(database.pool, { schema: "made" })).close();
    for (const statement of [
      "create role till login",
      "grant usage on schema made to till",
      "grant select, insert, update, delete on all tables in schema made to till",
      "grant usage on all sequences in schema made to till",
    ])
      await database.pool.query(statement);
    const till = new Pool({ ...database.connection, user: "till" });
    await expect(postgresStore(till, { schema: "other" })).rejects.toThrow("permission denied for database");
    const store = await postgresStore(till, { schema: "made" });
    await commit(store, { accounts: [account("a")] });
    expect(await store.read.accounts(["a"])).toHaveLength(1);
    await till.end();
  });
});

describe("usage", () => {
  /** The quantity of each meter in the rows of a schema. */
  const usageIn = async (schema: string): Promise<readonly string[]> => {
    const text = `select meter_id || ' ' || quantity as text from ${schema}.usage order by meter_id`;
    return (await database.pool.query<{ text: string }>(text)).rows.map((row) => row.text);
  };

  test("is stored in plain rows that can be queried: account, meter, day and quantity", async () => {
    const store = await postgresStore(database.pool, { schema: "plain" });
    await commit(store, {
      accounts: [account("a")],
      usage: [
        cell("a", "um.calls", TODAY, "1.5"),
        cell("a", "um.calls", TODAY, "2"),
        cell("a", "um.bytes", TODAY, "7"),
      ],
      overage: [cell("a", "ft.tokens", TODAY, "3")],
    });
    const usage = await database.pool.query(
      "select account_id, meter_id, day, quantity from plain.usage order by meter_id",
    );
    expect(usage.rows).toEqual([
      { account_id: "a", meter_id: "um.bytes", day: TODAY, quantity: "7" },
      { account_id: "a", meter_id: "um.calls", day: TODAY, quantity: "3.5" },
    ]);
    const overage = await database.pool.query("select account_id, feature_id, day, quantity from plain.overage");
    expect(overage.rows).toEqual([{ account_id: "a", feature_id: "ft.tokens", day: TODAY, quantity: "3" }]);
    await store.close();
  });

  test("of new meters that several stores encounter at the same time is complete", async () => {
    const stores = [
      await postgresStore(database.pool, { schema: "meters" }),
      await postgresStore(database.pool, { schema: "meters" }),
    ] as const;
    const addMeters = (store: Store, accountId: string, meters: readonly string[]): Promise<void> =>
      commit(store, { usage: meters.map((meter) => cell(accountId, meter, TODAY, "1")) });
    const rounds = Array.from({ length: 12 }, (_, round) => round);
    await Promise.all(
      rounds.flatMap((round) => {
        const meters = ["shared", `m${round}`, `m${(round + 5) % 12}`];
        return stores.map((store, index) => addMeters(store, `${index} ${round}`, meters));
      }),
    );
    const sums = await database.pool.query(
      "select meter_id, sum(quantity)::text as sum from meters.usage group by meter_id order by meter_id",
    );
    const expected = [
      ...rounds.map((round) => ({ meter_id: `m${round}`, sum: "4" })),
      { meter_id: "shared", sum: "24" },
    ];
    expect(sums.rows).toEqual(expected.toSorted((a, b) => (a.meter_id < b.meter_id ? -1 : 1)));
    await Promise.all(stores.map((store) => store.close()));
  });

  test("is added to its meter, even if the database was restored to a state before another meter had that column", async () => {
    const stores = [
      await postgresStore(database.pool, { schema: "brought back" }),
      await postgresStore(database.pool, { schema: "brought back" }),
    ] as const;
    const addMeters = (store: Store, meter: string, accountId = "a"): Promise<void> =>
      commit(store, { usage: [cell(accountId, meter, TODAY, "1")] });
    await addMeters(stores[0], "calls");
    await database.pool.query('delete from "brought back".item; delete from "brought back".usage_cells');
    await addMeters(stores[1], "bytes");
    await addMeters(stores[0], "calls");
    expect(await usageIn('"brought back"')).toEqual(["bytes 1", "calls 1"]);
    await Promise.all(stores.map((store) => store.close()));
  });

  test("of a failed commit leaves no cached column", async () => {
    const store = await postgresStore(database.pool, { schema: "failed" });
    const addMeters = async (meter: string, quantity: string): Promise<void> =>
      commit(store, { usage: [cell("a", meter, TODAY, quantity)], overage: [cell("a", meter, TODAY, quantity)] });
    await expect(addMeters("calls", "1e1001")).rejects.toMatchObject({ code: "ERR_ARITHMETIC" });
    await addMeters("bytes", "1");
    await addMeters("calls", "2");
    expect(await usageIn("failed")).toEqual(["bytes 1", "calls 2"]);
    await store.close();
  });
});

describe("an id that is remembered so long that its reservation may be reused", () => {
  test("is accepted once, also if its event is undone and it is sent by others in the meantime", async () => {
    const [store, other] = [
      await postgresStore(database.pool, { schema: "again" }),
      await postgresStore(database.pool, { schema: "again" }),
    ];
    const putChanges = (accountId: string, changes: Changes): Promise<void> =>
      other.transact({ configuration: "shared", accountIds: [accountId], eventIds: ["x"] }, async () => ({
        result: undefined,
        changes,
      }));
    const first = event("a", 1, { eventId: "x" });
    await putChanges("a", { accounts: [account("a"), account("b"), account("c")] });
    await putChanges("a", { accounts: [account("a", { netTermDays: 1 })], events: [first] });
    let runs = 0;
    const scope = { configuration: "shared", accountIds: ["b"], eventIds: ["x"] } as const;
    await store.transact(scope, async (view) => {
      const [takenIds] = await view.acceptedIds(["x"]);
      if ((runs += 1) === 1) {
        await putChanges("a", { events: [{ ...first, reverted: true }] });
        await putChanges("c", { events: [event("c", 1, { eventId: "x" })] });
      }
      // The time of the first reservation is over, that of others is not.
      const mayTake = takenIds === undefined || takenIds.accountId === "a";
      return { result: undefined, changes: mayTake ? { newEvents: [newEvent(event("b", 1, { eventId: "x" }))] } : {} };
    });
    const events = await store.read.events({ eventId: "x" }, { limit: 9 });
    expect(events.filter(({ reverted }) => !reverted).map(({ accountId }) => accountId)).toEqual(["c"]);
    expect(runs).toBe(2);
    await Promise.all([store.close(), other.close()]);
  });
});

describe("event ids that are assumed to be free", () => {
  test("are checked again if one is in use, also if the work fails because of it", async () => {
    const store = await postgresStore(database.pool, { schema: "assumed" });
    const scope = { configuration: "shared", accountIds: ["a"], eventIds: ["x", "y"] } as const;
    const putChanges = (eventId: string): Promise<void> =>
      commit(store, { accounts: [account("a")], newEvents: [newEvent(event("a", 1, { eventId }))] });
    await putChanges("x");
    const seenIds: string[][] = [];
    await store.transact(scope, async (view) => {
      const takenIds = (await view.acceptedIds(["x", "y"])).map(({ eventId }) => eventId);
      seenIds.push(takenIds);
      if (takenIds.length === 0) throw new Error("expected one that is held");
      return { result: undefined, changes: {} };
    });
    expect(seenIds).toEqual([[], ["x"]]);
    await store.close();
  });

  test("are rejected while another event uses the id that was accepted again, though its first event is undone", async () => {
    const store = await postgresStore(database.pool, { schema: "again and undone" });
    const putChanges = (
      accountId: string,
      number: number,
      more: Partial<EventRecord> = {},
    ): Promise<readonly string[]> =>
      store.transact({ configuration: "shared", accountIds: [accountId], eventIds: ["x"] }, async (view) => {
        const takenIds = await view.acceptedIds(["x"]);
        const newRecord = newEvent(event(accountId, number, { eventId: "x", ...more }));
        return {
          result: takenIds.map(({ referenceId }) => referenceId),
          changes: { accounts: [account(accountId)], newEvents: [newRecord] },
        };
      });
    await putChanges("a", 1);
    // A repeated id is looked up, and used after the first one; so are the next ones, until ids are free again.
    expect(await putChanges("b", 1)).toEqual(["ref.a.000001"]);
    for (let other = 0; other < 40; other++) {
      await commit(store, {});
    }
    const [first] = await store.read.eventsToUndo("a", {}, 1);
    await commit(store, { events: first === undefined ? [] : [{ ...first, reverted: true }] });
    expect(await putChanges("c", 1)).toEqual(["ref.b.000001"]);
    await store.close();
  });

  test("are not the reported reason if a read of the work timed out", async () => {
    const impatient = new Pool({ ...database.connection, options: "-c lock_timeout=100" });
    const store = await postgresStore(impatient, { schema: "impatient" });
    const locker = await database.pool.connect();
    await locker.query("begin; lock table impatient.entry in access exclusive mode");
    const scope = { configuration: "shared", accountIds: ["a"], eventIds: ["x"] } as const;
    const work = store.transact(scope, async (view) => {
      await view.acceptedIds(["x"]);
      await view.entries(["a"]);
      return { result: undefined, changes: {} };
    });
    await expect(work).rejects.toMatchObject({ code: "ERR_STORE_UNAVAILABLE" });
    await locker.query("rollback");
    locker.release();
    await impatient.end();
  });

  test("are looked up after the sent statements have ended, because a driver may queue only one", async () => {
    let [under, most] = [0, 0];
    const countingPool = poolThat(database.pool, (connection, statement) => {
      most = Math.max(most, (under += 1));
      return connection.query(statement).finally(() => (under -= 1));
    });
    const store = await postgresStore(countingPool, { schema: "counted" });
    const scope = { configuration: "shared", accountIds: ["a"], eventIds: [] } as const;
    const events = Array.from({ length: 2_000 }, (_, place) => newEvent(event("a", place)));
    await store.transact(scope, async (view) => {
      expect(await view.acceptedIds([...events.map(({ eventId }) => eventId), "not taken"])).toEqual([]);
      return { result: undefined, changes: { accounts: [account("a")], newEvents: events } };
    });
    expect(most).toBe(2);
    expect(await store.read.events({ eventId: "event.a.1999" }, { limit: 9 })).toHaveLength(1);
    await store.close();
  });
});

describe("the same ids, sent to two stores at once in opposite orders", () => {
  test("are inserted in one order: no two stores wait for each other", async () => {
    const codes: unknown[] = [];
    const listening = poolThat(database.pool, (connection, statement) =>
      connection.query(statement).catch((error: unknown) => {
        codes.push((error as { code?: string }).code);
        throw error;
      }),
    );
    const openOpposite = (): Promise<Store> => postgresStore(listening, { schema: "opposite" });
    const stores = [await openOpposite(), await openOpposite()];
    const ids = Array.from({ length: 3_000 }, (_, place) => `same ${(place * 7_919) % 3_000}`);
    const acceptedLists = await Promise.all(
      stores.map((store, index) => {
        const accountId = `${index}`;
        const idsInOrder = index === 0 ? ids : ids.toReversed();
        return store.transact(
          { configuration: "shared", accountIds: [accountId], eventIds: idsInOrder },
          async (view) => {
            const takenSet = new Set((await view.acceptedIds(idsInOrder)).map(({ eventId }) => eventId));
            const free = idsInOrder.filter((eventId) => !takenSet.has(eventId));
            const newEvents = free.map((eventId, place) => newEvent(event(accountId, place, { eventId })));
            return { result: free.length, changes: { accounts: [account(accountId)], newEvents } };
          },
        );
      }),
    );
    expect(acceptedLists.toSorted((a, b) => a - b)).toEqual([0, 3_000]);
    // The later one found an existing key, and decided again; neither had a deadlock (40P01).
    expect(codes).toContain("23505");
    expect(codes).not.toContain("40P01");
    await Promise.all(stores.map((store) => store.close()));
  });
});

describe("a batch of more events than a block of numbers", () => {
  test("gets ascending numbers without duplicates", async () => {
    const store = await postgresStore(database.pool, { schema: "blocks" });
    const events = Array.from({ length: 9_000 }, (_, place) => newEvent(event("a", place)));
    await commit(store, { accounts: [account("a")], newEvents: events });
    const storedEvents = await store.read.eventsToUndo("a", {});
    expect(storedEvents.map(({ eventId }) => eventId)).toEqual(events.map(({ eventId }) => eventId));
    expect(new Set(storedEvents.map(({ number }) => number)).size).toBe(9_000);
    await store.close();
  });
});

describe("the storage port: PostgreSQL", () => {
  for (const { name, run } of storeConformance) {
    test(name, () => run(() => emptiedStore(database.pool)));
  }
});
