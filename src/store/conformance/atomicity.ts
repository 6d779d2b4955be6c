/** A decision is committed completely or not at all; histories have more commits that fail. */
import assert from "node:assert/strict";

import { commit, type ConformanceCase, createScope, defineCase } from "./case.ts";
import { endUnreadable } from "./random-steps.ts";
import { account, cell, entry, newEvent, event, TODAY, toLedgerCell } from "./samples.ts";

export const atomicityCases: readonly ConformanceCase[] = [
  defineCase("if the work throws, nothing is written and the error is passed on unchanged", async (store) => {
    const error = new Error("refused by the work");
    const transaction = store.transact(createScope(["a"]), () => Promise.reject(error));
    await assert.rejects(transaction, (caught) => caught === error);
  }),

  defineCase("a failed commit leaves existing records unchanged, and can be repeated", async (store) => {
    const usage = [cell("a", "um.tokens", TODAY, "1")];
    await commit(store, { usage, entries: [entry("a", "e.one")] });
    const changes = { usage, entries: [entry("a", "e.one", { voided: true })], newEvents: [newEvent(event("a", 1))] };
    const decision = { result: undefined, changes: endUnreadable(changes, "invoices") };
    await assert.rejects(store.transact(createScope(["a"], ["event.a.1"]), async () => decision));
    assert.deepEqual(await store.read.usage(["a"], TODAY, TODAY + 1), usage.map(toLedgerCell));
    assert.deepEqual(await store.read.entries(["a"]), [entry("a", "e.one")]);
    assert.deepEqual(await store.read.events({}, { limit: 9 }), []);
    await commit(store, changes);
    assert.deepEqual(await store.read.entries(["a"]), changes.entries);
    assert.equal((await store.read.events({}, { limit: 9 })).length, 1);
  }),

  defineCase("the work reads committed records, and its result is returned; a scope may be empty", async (store) => {
    await commit(store, { accounts: [account("a", { netTermDays: 1 })] });
    const result = await store.transact(createScope([]), async (view) => {
      const [record] = await view.accounts(["a"]);
      return { result: { netTermDays: record?.netTermDays }, changes: {} };
    });
    assert.deepEqual(result, { netTermDays: 1 });
  }),

  defineCase("closing a store twice has no further effect", async (store) => {
    await store.close();
    await store.close();
  }),
];
