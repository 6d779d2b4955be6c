/** Sizes of commits, and of texts, whatever they contain. */
import assert from "node:assert/strict";

import type { Changes } from "../../ledger/decision.ts";
import type { LedgerView } from "../../ledger/view.ts";
import { commit, type ConformanceCase, defineCase } from "./case.ts";
import { MAKERS } from "./random-records.ts";
import { createRandom } from "./random.ts";
import { account, cell, entry, event, NOON, ODD_TEXTS, toLedgerCell, TODAY } from "./samples.ts";

const BATCH = 1000;
const CELLS = 10_000;
const PAGE = { limit: 9 };

type Kind = keyof typeof MAKERS;
/** How to read a record of each kind if its own id is also that of its account. */
const READ_BACK: { readonly [Part in Kind]: (view: LedgerView, id: string) => Promise<readonly unknown[]> } = {
  documents: async (view, id) =>
    (await Promise.all([view.document("feature", id), view.document("setting", id)])).filter((found) => found),
  accounts: (view, id) => view.accounts([id]),
  events: (view, id) => view.events({ accountId: id, eventId: id, referenceId: id }, PAGE),
  entries: (view, id) => view.entries([id]),
  credits: (view, id) => view.creditList({ accountId: id }, PAGE),
  invoices: (view, id) => view.invoiceList({ accountId: id }, PAGE),
  billedUsage: (view, id) => view.billedUsage([id], -Infinity, Infinity),
};

export const limitCases: readonly ConformanceCase[] = [
  defineCase(`a commit can have ${BATCH} events of as many accounts`, async (store) => {
    const ids = Array.from({ length: BATCH }, (_, index) => `account.${String(index).padStart(3, "0")}`);
    const events = ids.map((id) => event(id, 1, { createdAt: NOON }));
    const entries = ids.map((id) => entry(id, `e.${id}`));
    await commit(store, { accounts: ids.map((id) => account(id)), events, entries });
    const page = await store.read.events({}, { limit: 600 });
    const after = { id: page.at(-1)?.referenceId ?? "", createdAt: NOON };
    assert.deepEqual([...page, ...(await store.read.events({}, { limit: 600, after }))], events);
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

  defineCase(
    "records are read as written, with ids of any text, of up to 512 characters, and with a text of a million bytes",
    async (store) => {
      const ids = [...ODD_TEXTS, "x".repeat(512), "漢".repeat(511) + "a", "漢".repeat(511) + "b"];
      const cells = ids.map((id) => cell(id, id, TODAY, "1"));
      const random = createRandom(1);
      const records = Object.entries(MAKERS).map(
        ([kind, make]) => [kind as Kind, ids.map((id, number) => make(random, number, id, id))] as const,
      );
      const large = account("large", { name: "漢".repeat(1_000_000 / 3) });
      await commit(store, { accounts: [large] });
      assert.deepEqual(await store.read.accounts(["large"]), [large]);
      await commit(store, { ...(Object.fromEntries(records) as Changes), usage: cells });
      for (const [kind, expected] of records) {
        for (const [number, id] of ids.entries())
          assert.deepEqual(await READ_BACK[kind](store.read, id), [expected[number]]);
      }
      for (const [number, id] of ids.entries())
        assert.deepEqual(
          await store.read.usage([id], TODAY, TODAY + 1),
          cells.slice(number, number + 1).map(toLedgerCell),
        );
    },
  ),
];
