/** Each transaction is the only writer of its scope; there are no deadlocks, and no partial commits are visible. */
import assert from "node:assert/strict";

import type { Store } from "../store.ts";
import { sleep } from "../yielder.ts";
import { commit, type ConformanceCase, createGate, defineCase, createScope, rejectAfter } from "./case.ts";
import { account, cell, event, TODAY } from "./samples.ts";

const WRITERS = 12;
/** Minimum milliseconds after which a commit counts as blocked by another one. */
const WAIT_MS = 2000;
/** Minimum milliseconds after which a dozen transactions count as deadlocked. */
const DEADLOCK_MS = 5000;
/** Or this many times the duration of one transaction, if that is longer. */
const WAIT_TRANSACTIONS = 200;

/** Increments the netTermDays of accounts, based on the values read before. */
async function incrementNetTermDays(
  store: Store,
  accountIds: readonly string[],
  eventIds: readonly string[] = [],
): Promise<void> {
  await store.transact(createScope(accountIds, eventIds), async (view) => {
    const records = await view.accounts(accountIds);
    await sleep(1);
    const accounts = accountIds.map((id) => {
      const netTermDays = records.find((record) => record.id === id)?.netTermDays ?? 0;
      return account(id, { netTermDays: netTermDays + 1 });
    });
    return { result: undefined, changes: { accounts } };
  });
}

/** The timeout in milliseconds: at least `leastMs`, longer if the store is currently slow. */
async function deadlineFor(store: Store, leastMs: number): Promise<number> {
  const began = performance.now();
  await incrementNetTermDays(store, ["patience"]);
  return Math.max(leastMs, WAIT_TRANSACTIONS * (performance.now() - began));
}

/** Stores an event if its id is free, and returns whether it was. */
function reserveId(store: Store, accountId: string, eventId: string, pause = 1): Promise<boolean> {
  return store.transact(createScope([accountId], [eventId]), async (view) => {
    const acceptedIds = await view.acceptedIds([eventId]);
    await sleep(pause);
    const isFree = acceptedIds.length === 0;
    return { result: isFree, changes: isFree ? { events: [event(accountId, 1, { eventId })] } : {} };
  });
}

async function readNetTermDays(store: Store, ids: readonly string[]): Promise<readonly number[]> {
  const records = await store.read.accounts(ids);
  return ids.map((id) => records.find((record) => record.id === id)?.netTermDays ?? 0);
}

export const isolationCases: readonly ConformanceCase[] = [
  defineCase("concurrent writers lose no update of an account", async (store) => {
    await commit(store, { accounts: [account("a")] });
    await Promise.all(Array.from({ length: WRITERS }, () => incrementNetTermDays(store, ["a"])));
    assert.deepEqual(await readNetTermDays(store, ["a"]), [WRITERS]);
  }),

  defineCase("concurrent writers that create an account lose no update", async (store) => {
    await Promise.all(Array.from({ length: WRITERS }, () => incrementNetTermDays(store, ["a"])));
    assert.deepEqual(await readNetTermDays(store, ["a"]), [WRITERS]);
  }),

  defineCase("locked records do not change while the work runs", async (store) => {
    await commit(store, { accounts: [account("a")] });
    const started = createGate();
    const observed = store.transact(createScope(["a"]), async (view) => {
      const before = await view.accounts(["a"]);
      started.open();
      await sleep(20);
      return { result: [before, await view.accounts(["a"])], changes: {} };
    });
    await started.opened;
    const other = incrementNetTermDays(store, ["a"]);
    const [[before, after]] = await Promise.all([observed, other]);
    assert.deepEqual(after, before);
    assert.deepEqual(await readNetTermDays(store, ["a"]), [1]);
  }),

  defineCase("an event id is accepted once, even if several accounts send it at the same time", async (store) => {
    const accountIds = Array.from({ length: WRITERS }, (_, index) => `a${index}`);
    const outcomes = await Promise.all(accountIds.map((id, index) => reserveId(store, id, "same", index % 3)));
    assert.equal(outcomes.filter((isReserved) => isReserved).length, 1);
    assert.equal((await store.read.events({ eventId: "same" }, { limit: 10 })).length, 1);
  }),

  defineCase("an event id that a running commit uses is not available", async (store) => {
    const started = createGate();
    const first = store.transact(createScope(["a"], ["same"]), async (view) => {
      const isFree = (await view.acceptedIds(["same"])).length === 0;
      started.open();
      await sleep(20);
      return { result: isFree, changes: isFree ? { events: [event("a", 1, { eventId: "same" })] } : {} };
    });
    await started.opened;
    const outcomes = await Promise.all([first, reserveId(store, "b", "same")]);
    assert.equal(outcomes.filter((isReserved) => isReserved).length, 1);
  }),

  defineCase("scopes with overlapping accounts do not deadlock", async (store) => {
    const ids = ["a", "b", "c", "d"];
    const deadlineMs = await deadlineFor(store, DEADLOCK_MS);
    const orders = [ids, ids.toReversed(), ["b", "d", "a", "c"], ["c", "a", "d", "b"]];
    const all = Promise.all([...orders, ...orders, ...orders].map((order) => incrementNetTermDays(store, order)));
    await rejectAfter(deadlineMs, all, "overlapping scopes");
    assert.deepEqual(await readNetTermDays(store, ids), [12, 12, 12, 12]);
  }),

  defineCase("scopes with overlapping event ids do not deadlock", async (store) => {
    const ids = Array.from({ length: 8 }, (_, index) => `same.${index}`);
    const deadlineMs = await deadlineFor(store, DEADLOCK_MS);
    const takeAll = (accountId: string, eventIds: readonly string[]): Promise<void> =>
      store.transact(createScope([accountId], eventIds), async (view) => {
        const acceptedIds = new Set((await view.acceptedIds(eventIds)).map(({ eventId }) => eventId));
        await sleep(1);
        const free = eventIds.filter((eventId) => !acceptedIds.has(eventId));
        const events = free.map((eventId) => event(accountId, 1 + ids.indexOf(eventId), { eventId }));
        return { result: undefined, changes: { events } };
      });
    const all = Promise.all(
      Array.from({ length: WRITERS }, (_, index) => takeAll(`a${index}`, index % 2 === 0 ? ids : ids.toReversed())),
    );
    await rejectAfter(deadlineMs, all, "overlapping scopes");
    assert.equal((await store.read.events({}, { limit: 100 })).length, ids.length);
    assert.equal((await store.read.acceptedIds(ids)).length, ids.length);
  }),

  defineCase("a reader sees all changes of a commit or none", async (store) => {
    const writer = { isDone: false };
    const write = async (): Promise<void> => {
      for (let number = 1; number <= 15; number++) {
        await commit(store, {
          accounts: [account("a", { netTermDays: number })],
          events: [event("a", number)],
          usage: [cell("a", "um.tokens", TODAY, "1")],
        });
      }
    };
    const writing = write().finally(() => {
      writer.isDone = true;
    });
    const events = async (): Promise<number> => (await store.read.events({ accountId: "a" }, { limit: 100 })).length;
    const usage = async (): Promise<number> =>
      (await store.read.usage(["a"], TODAY, TODAY + 1))[0]?.quantity.toNumber() ?? 0;
    const pairs = [
      [events, usage],
      [usage, events],
      [async () => (await readNetTermDays(store, ["a"]))[0] ?? 0, usage],
    ] as const;
    const inconsistentReads: string[] = [];
    while (!writer.isDone) {
      await sleep(0);
      for (const [earlier, later] of pairs) {
        const first = await earlier();
        const second = await later();
        if (second < first)
          inconsistentReads.push(`${first} commits were visible in one table, then ${second} in another`);
      }
    }
    await writing;
    assert.deepEqual(inconsistentReads, []);
  }),

  defineCase("reads started together see one committed state", async (store) => {
    const writer = { isDone: false };
    const write = async (): Promise<void> => {
      for (let number = 1; number <= 30; number++) {
        await commit(store, {
          accounts: [account("a", { netTermDays: number }), account("b", { netTermDays: number })],
          usage: [cell("a", "um.tokens", TODAY, "1")],
        });
        await sleep(1);
      }
    };
    const writing = write().finally(() => {
      writer.isDone = true;
    });
    const inconsistentReads: unknown[] = [];
    while (!writer.isDone) {
      await sleep(0);
      const view = store.consistentView();
      const [accounts, usage, again] = await Promise.all([
        view.accounts(["a"]),
        view.usage(["a"], TODAY, TODAY + 1),
        view.accounts(["b"]),
      ]);
      const observed = [accounts[0]?.netTermDays ?? 0, usage[0]?.quantity.toNumber() ?? 0, again[0]?.netTermDays ?? 0];
      if (new Set(observed).size > 1) inconsistentReads.push(observed);
    }
    await writing;
    assert.deepEqual(inconsistentReads, []);
  }),

  defineCase("writers of different accounts do not wait for each other", async (store) => {
    const deadlineMs = await deadlineFor(store, WAIT_MS);
    const commitGate = createGate();
    const started = createGate();
    const blockingWriter = store.transact(createScope(["a"], ["e.a"]), async () => {
      started.open();
      await commitGate.opened;
      return { result: undefined, changes: { accounts: [account("a", { netTermDays: 7 })] } };
    });
    await started.opened;
    const other = incrementNetTermDays(store, ["b"], ["e.b"]).then(() => "done");
    const outcome = await Promise.race([other, sleep(deadlineMs).then(() => "it waits")]);
    // Read while the first writer is still working, unless reads wait too.
    const observed = await Promise.race([
      readNetTermDays(store, ["a", "b"]),
      sleep(deadlineMs).then(() => "reads wait"),
    ]);
    commitGate.open();
    await Promise.all([blockingWriter, other]);
    assert.equal(outcome, "done");
    assert.deepEqual(observed, [0, 1]);
    assert.deepEqual(await readNetTermDays(store, ["a", "b"]), [7, 1]);
  }),
];
