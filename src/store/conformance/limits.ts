/** Sizes of commits, and of texts, whatever they contain. */
import assert from "node:assert/strict";

import type { UsageGroup } from "../../book/resources/event-schema.ts";
import type { Changes } from "../../ledger/decision.ts";
import type { LedgerView } from "../../ledger/view.ts";
import { formatDecimal } from "../../numbers/decimal.ts";
import { commit, type ConformanceCase, createScope, defineCase } from "./case.ts";
import { createRandom, MAKERS } from "./random-records.ts";
import { account, cell, entry, event, groupCell, NOON, ODD_TEXTS, toLedgerCell, TODAY } from "./samples.ts";

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

  defineCase("thousands of values of a day are counted after each commit, exactly above a number", async (store) => {
    const valueOf = (index: number): UsageGroup => ["eu", JSON.stringify([NOON + index, `event.${index}`, "1.5"])];
    const of = { accountId: "a", meterId: "m", day: TODAY };
    const rightCounts = async (right: number): Promise<void> => {
      assert.deepEqual(await store.read.groupCounts([{ ...of, exactAbove: right - 1 }]), [right]);
      const [bound = Number.NaN] = await store.read.groupCounts([{ ...of, exactAbove: 5_000 }]);
      assert.ok(bound >= right && bound <= 5_000, `${bound} is from ${right} to 5,000`);
    };
    // In each step some values are new, some are there, and the counts of some become 0.
    const steps: readonly (readonly [from: number, until: number, quantity: string, after: number])[] = [
      [0, 1_200, "1", 1_200],
      [600, 2_400, "1", 2_400],
      [0, 900, "-1", 1_800],
      [300, 600, "1", 2_100],
      [2_400, 3_000, "2", 2_700],
      [600, 3_000, "-1", 1_200],
    ];
    for (const [from, until, quantity, after] of steps) {
      const usage = Array.from({ length: until - from }, (_, index) =>
        groupCell(valueOf(from + index), "a", "m", TODAY, quantity),
      );
      await store.transact(createScope(["a"]), async (view) => {
        // Commits that read the number first, and one that doesn't.
        if (from !== 2_400) await view.groupCounts([{ ...of, exactAbove: 5_000 }]);
        return { result: undefined, changes: { usage } };
      });
      await rightCounts(after);
    }
    const cells = await store.read.usage(["a"], TODAY, TODAY + 1);
    assert.equal(cells.length, 1_200);
    assert.deepEqual(new Set(cells.map(({ quantity }) => formatDecimal(quantity))), new Set(["1"]));
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
