/** Sizes of commits and texts. */
import assert from "node:assert/strict";

import type { EventRecord } from "../../ledger/records.ts";
import type { PageKey } from "../../ledger/view.ts";
import { commit, type ConformanceCase, defineCase } from "./case.ts";
import { account, cell, entry, event, NOON, toLedgerCell, TODAY } from "./samples.ts";

const BATCH = 1000;
const CELLS = 10_000;

export const limitCases: readonly ConformanceCase[] = [
  defineCase(`a commit can have ${BATCH} events of as many accounts`, async (store) => {
    const ids = Array.from({ length: BATCH }, (_, index) => `account.${index}`);
    await commit(store, {
      accounts: ids.map((id) => account(id)),
      events: ids.map((id) => event(id, 1, { createdAt: NOON })),
      entries: ids.map((id) => entry(id, `e.${id}`)),
    });
    const distinctIds = new Set<string>();
    let after: PageKey | undefined;
    for (let page: readonly EventRecord[] = [], first = true; first || page.length > 0; first = false) {
      page = await store.read.events({}, { limit: 300, ...(after === undefined ? {} : { after }) });
      for (const { accountId, referenceId, createdAt } of page) {
        distinctIds.add(accountId);
        after = { id: referenceId, createdAt };
      }
    }
    assert.equal(distinctIds.size, BATCH);
    assert.equal((await store.read.acceptedIds(ids.map((id) => `event.${id}.1`))).length, BATCH);
    assert.equal((await store.read.accounts(ids)).length, BATCH);
    assert.equal((await store.read.entries(ids)).length, BATCH);
  }),

  defineCase(`a commit can have ${CELLS} cells`, async (store) => {
    const changes = Array.from({ length: CELLS }, (_, index) =>
      cell(`a${index % 100}`, `m${Math.floor(index / 100) % 10}`, TODAY + Math.floor(index / 1000), "0.1"),
    );
    await commit(store, { usage: changes });
    await commit(store, { usage: changes.toReversed() });
    const ids = Array.from({ length: 100 }, (_, index) => `a${index}`);
    const cells = await store.read.usage(ids, TODAY, TODAY + 10);
    assert.equal(cells.length, CELLS);
    assert.deepEqual(new Set(cells.map(({ quantity }) => quantity.toFixed())), new Set(["0.2"]));
  }),

  defineCase("ids of 512 characters and texts of a million characters are stored", async (store) => {
    const ids = ["x".repeat(512), "漢".repeat(511) + "a", "漢".repeat(511) + "b"];
    const accounts = ids.map((id) => account(id, { metadata: { note: "漢".repeat(1_000_000 / 3) } }));
    const events = ids.map((id) => event(id, 1, { eventId: id, referenceId: id, schemaName: id }));
    const entries = ids.map((id) => entry(id, id, { featureId: id }));
    const usage = ids.map((id) => cell(id, id, TODAY, "1"));
    await commit(store, { accounts, events, entries, usage });
    for (const [index, id] of ids.entries()) {
      assert.deepEqual(await store.read.accounts([id]), [accounts[index]]);
      assert.deepEqual(await store.read.events({ eventId: id }, { limit: 9 }), [events[index]]);
      assert.deepEqual(await store.read.events({ accountId: id, schemaName: id }, { limit: 9 }), [events[index]]);
      assert.deepEqual(await store.read.entries([id], id), [entries[index]]);
      assert.deepEqual(await store.read.usage([id], TODAY, TODAY + 1), usage.slice(index, index + 1).map(toLedgerCell));
    }
  }),
];
