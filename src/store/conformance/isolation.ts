/** Each transaction is the only writer of its scope, and there are no deadlocks. Histories have commits that fail. */
import assert from "node:assert/strict";

import type { Changes } from "../../ledger/decision.ts";
import type { LedgerView } from "../../ledger/view.ts";
import type { Scope, Store } from "../store.ts";
import { sleep } from "../yielder.ts";
import { type ConformanceCase, commit, createGate, createScope, defineCase, rejectAfter } from "./case.ts";
import { TODAY, account, cell, document, event } from "./samples.ts";

const WRITERS = 12;
/** Minimum milliseconds after which a commit counts as blocked by another one. */
const WAIT_MS = 2000;
/** Minimum milliseconds after which a dozen transactions count as deadlocked. */
const DEADLOCK_MS = 5000;
/** Or this many times the duration of one transaction, if that is longer. */
const WAIT_TRANSACTIONS = 200;
const EXCLUSIVE: Scope = { configuration: "exclusive", accountIds: [], eventIds: [] };

const times = <Result>(count: number, run: (index: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => run(index)));

/** Increments the netTermDays of accounts, based on the values read before, and their usage by 0.1. */
async function increment(store: Store, ids: readonly string[], eventIds: readonly string[] = []): Promise<void> {
  await store.transact(createScope(ids, eventIds), async (view) => {
    const before = await readNetTermDays(view, ids);
    await sleep(1);
    const accounts = ids.map((id, index) => account(id, { netTermDays: (before[index] ?? 0) + 1 }));
    return { result: undefined, changes: { accounts, usage: ids.map((id) => cell(id, "m", TODAY, "0.1")) } };
  });
}

async function readNetTermDays(view: LedgerView, ids: readonly string[]): Promise<readonly number[]> {
  const records = await view.accounts(ids);
  return ids.map((id) => records.find((record) => record.id === id)?.netTermDays ?? 0);
}

const readUsage = async (view: LedgerView): Promise<number> =>
  (await view.usage(["a"], TODAY, TODAY + 1))[0]?.quantity.toNumber() ?? 0;

/** The timeout in milliseconds: at least `leastMs`, longer if the store is currently slow. */
async function deadlineFor(store: Store, leastMs: number): Promise<number> {
  const began = performance.now();
  await increment(store, ["patience"]);
  return Math.max(leastMs, WAIT_TRANSACTIONS * (performance.now() - began));
}

/** Stores an event for each id that is free, and returns whether all were. */
function reserveIds(store: Store, accountId: string, eventIds: readonly string[], pause = 1): Promise<boolean> {
  return store.transact(createScope([accountId], eventIds), async (view) => {
    const acceptedIds = new Set((await view.acceptedIds(eventIds)).map(({ eventId }) => eventId));
    await sleep(pause);
    const free = eventIds.filter((eventId) => !acceptedIds.has(eventId));
    const events = free.map((eventId) => event(accountId, 1 + Number(eventId.at(-1)), { eventId }));
    return { result: free.length === eventIds.length, changes: { events } };
  });
}

/** Runs `meanwhile` while a transaction is working, and returns what the transaction read before and after. */
async function readTwice<Result>(
  store: Store,
  scope: Scope,
  read: (view: LedgerView) => Promise<Result>,
  meanwhile: () => Promise<unknown>,
): Promise<readonly [before: Result, after: Result]> {
  const [started, start] = createGate();
  const reading = store.transact(scope, async (view) => {
    const before = await read(view);
    start();
    await sleep(20);
    return { result: [before, await read(view)] as const, changes: {} };
  });
  await started;
  const [result] = await Promise.all([reading, meanwhile()]);
  return result;
}

/** Calls `read` again and again while commits are made, each of which leaves all counts equal, one higher. */
async function readWhileWriting(store: Store, commits: number, read: () => Promise<void>): Promise<void> {
  const writer = { isDone: false };
  const write = async (): Promise<void> => {
    for (let number = 1; number <= commits; number++) {
      const accounts = ["a", "b"].map((id) => account(id, { netTermDays: number }));
      const changes: Changes = { accounts, events: [event("a", number)], usage: [cell("a", "m", TODAY, "1")] };
      await commit(store, changes);
      await sleep(1);
    }
  };
  const writing = write().finally(() => {
    writer.isDone = true;
  });
  while (!writer.isDone) {
    await sleep(0);
    await read();
  }
  await writing;
}

export const isolationCases: readonly ConformanceCase[] = [
  defineCase("concurrent writers lose no update of an account, whether it exists or they create it", async (store) => {
    await commit(store, { accounts: [account("existing")] });
    await times(2 * WRITERS, (index) => increment(store, [index % 2 === 0 ? "existing" : "a"]));
    assert.deepEqual(await readNetTermDays(store.read, ["existing", "a"]), [WRITERS, WRITERS]);
    assert.equal(await readUsage(store.read), 1.2);
  }),

  defineCase("locked records do not change while the work runs", async (store) => {
    await commit(store, { accounts: [account("a")] });
    const read = (view: LedgerView) => view.accounts(["a"]);
    const [before, after] = await readTwice(store, createScope(["a"]), read, () => increment(store, ["a"]));
    assert.deepEqual(after, before);
    assert.deepEqual(await readNetTermDays(store.read, ["a"]), [1]);
  }),

  defineCase("an exclusive lock on the configuration makes all others wait", async (store) => {
    const read = async (view: LedgerView): Promise<number> =>
      Number((await view.document("setting", "s"))?.body["count"] ?? 0);
    const incrementDocument = (): Promise<void> =>
      store.transact(EXCLUSIVE, async (view) => {
        const count = 1 + (await read(view));
        await sleep(1);
        return { result: undefined, changes: { documents: [document("setting", "s", { count })] } };
      });
    const meanwhile = (): Promise<unknown> => times(9, incrementDocument);
    assert.deepEqual(await readTwice(store, EXCLUSIVE, read, meanwhile), [0, 0]);
    assert.deepEqual(await readTwice(store, createScope(["a"]), read, incrementDocument), [9, 9]);
    assert.equal(await read(store.read), 10);
  }),

  defineCase("an event id is accepted once, even if several accounts send it at the same time", async (store) => {
    const outcomes = await times(WRITERS, (index) => reserveIds(store, `a${index}`, ["same.1"], [1, 2, 20][index % 3]));
    assert.equal(outcomes.filter((isReserved) => isReserved).length, 1);
    assert.equal((await store.read.events({ eventId: "same.1" }, { limit: 10 })).length, 1);
  }),

  defineCase("scopes with overlapping accounts do not deadlock", async (store) => {
    const ids = ["a", "b", "c", "d"];
    const deadlineMs = await deadlineFor(store, DEADLOCK_MS);
    const orders = [ids, ids.toReversed(), ["b", "d", "a", "c"], ["c", "a", "d", "b"]];
    const all = times(WRITERS, (index) => increment(store, orders[index % 4] ?? ids));
    await rejectAfter(deadlineMs, all, "overlapping scopes");
    assert.deepEqual(await readNetTermDays(store.read, ids), [WRITERS, WRITERS, WRITERS, WRITERS]);
  }),

  defineCase("scopes with overlapping event ids do not deadlock", async (store) => {
    const ids = Array.from({ length: 8 }, (_, index) => `same.${index}`);
    const deadlineMs = await deadlineFor(store, DEADLOCK_MS);
    const all = times(WRITERS, (index) => reserveIds(store, `a${index}`, index % 2 === 0 ? ids : ids.toReversed()));
    await rejectAfter(deadlineMs, all, "overlapping scopes");
    assert.equal((await store.read.events({}, { limit: 100 })).length, ids.length);
    assert.equal((await store.read.acceptedIds(ids)).length, ids.length);
  }),

  defineCase("a reader sees all changes of a commit or none", async (store) => {
    const countEvents = async (): Promise<number> =>
      (await store.read.events({ accountId: "a" }, { limit: 99 })).length;
    const sumUsage = (): Promise<number> => readUsage(store.read);
    const readAccount = async (): Promise<number> => (await readNetTermDays(store.read, ["a"]))[0] ?? 0;
    const inconsistentReads: unknown[] = [];
    await readWhileWriting(store, 15, async () => {
      for (const [earlier, later] of [
        [countEvents, sumUsage],
        [sumUsage, countEvents],
        [readAccount, sumUsage],
      ] as const) {
        const counts = [await earlier(), await later()] as const;
        if (counts[1] < counts[0]) inconsistentReads.push(counts);
      }
    });
    assert.deepEqual(inconsistentReads, []);
  }),

  defineCase("reads started together see one committed state", async (store) => {
    const inconsistentReads: unknown[] = [];
    await readWhileWriting(store, 30, async () => {
      const view = store.consistentView();
      const reads = [readNetTermDays(view, ["a"]), readUsage(view), readNetTermDays(view, ["b"])];
      const counts = (await Promise.all(reads)).flat();
      if (new Set(counts).size > 1) inconsistentReads.push(counts);
    });
    assert.deepEqual(inconsistentReads, []);
  }),

  defineCase("writers of different accounts do not wait for each other", async (store) => {
    const deadlineMs = await deadlineFor(store, WAIT_MS);
    const [started, start] = createGate();
    const [ended, end] = createGate();
    const blockingWriter = store.transact(createScope(["a"], ["e.a"]), async () => {
      start();
      await ended;
      return { result: undefined, changes: { accounts: [account("a", { netTermDays: 7 })] } };
    });
    await started;
    const other = increment(store, ["b"], ["e.b"]).then(() => "done");
    const outcome = await Promise.race([other, sleep(deadlineMs).then(() => "it waits")]);
    // Read while the first writer is still working, unless reads wait too.
    const reading = readNetTermDays(store.read, ["a", "b"]);
    const observed = await Promise.race([reading, sleep(deadlineMs).then(() => "reads wait")]);
    end();
    await Promise.all([blockingWriter, other]);
    assert.equal(outcome, "done");
    assert.deepEqual(observed, [0, 1]);
    assert.deepEqual(await readNetTermDays(store.read, ["a", "b"]), [7, 1]);
  }),

  defineCase("if the work throws, nothing is written and the error is passed on unchanged", async (store) => {
    const error = new Error("refused by the work");
    const transaction = store.transact(createScope(["a"]), () => Promise.reject(error));
    await assert.rejects(transaction, (caught) => caught === error);
  }),

  defineCase("closing a store twice has no further effect", async (store) => {
    await store.close();
    await store.close();
  }),
];
