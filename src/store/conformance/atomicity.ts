/** A decision is committed completely or not at all. */
import assert from "node:assert/strict";

import type { Changes } from "../../ledger/decision.ts";
import type { Store } from "../store.ts";
import { commit, type ConformanceCase, defineCase, createScope } from "./case.ts";
import {
  account,
  cell,
  credit,
  document,
  entry,
  event,
  invoice,
  billedUsage,
  newEvent,
  toLedgerCell,
  TODAY,
} from "./samples.ts";

/** A change of every kind, for one account. */
function everything(
  accountId: string,
): Required<Omit<Changes, "configurationRevision" | "removedDocuments" | "removedEvents">> {
  return {
    documents: [document("setting", "s.one")],
    accounts: [account(accountId, { netTermDays: 1 })],
    newEvents: [newEvent(event(accountId, 2))],
    events: [event(accountId, 1)],
    usage: [cell(accountId, "um.tokens", TODAY, "1")],
    overage: [cell(accountId, "f.one", TODAY, "1")],
    entries: [entry(accountId, "e.one")],
    credits: [credit(accountId, "c.one")],
    invoices: [invoice(accountId, "i.one")],
    billedUsage: [billedUsage(accountId, "i.one", TODAY, 1)],
  };
}

/** How much of {@link everything} the store contains. */
async function countRecords({ read }: Store, accountId: string): Promise<readonly number[]> {
  const ids = [accountId];
  const lists = await Promise.all([
    read.allDocuments("setting"),
    read.accounts(ids),
    read.events({ accountId }, { limit: 10 }),
    read.acceptedIds([`event.${accountId}.1`]),
    read.usage(ids, TODAY, TODAY + 1),
    read.overage(ids, TODAY, TODAY + 1),
    read.entries(ids),
    read.credits(ids),
    read.invoices(ids, Number.NEGATIVE_INFINITY),
    read.billedUsage(ids, TODAY, TODAY + 1),
  ]);
  return lists.map((list) => list.length);
}

const ALL = [1, 1, 2, 1, 1, 1, 1, 1, 1, 1];
const NOTHING = ALL.map(() => 0);

/** A record with a property that throws when read, so that writing it fails. */
function breakProperty<Item extends object>(item: Item, property: keyof Item): Item {
  return Object.defineProperty({ ...item }, property, {
    enumerable: true,
    get() {
      throw new Error("this record cannot be read");
    },
  });
}

/** Everything, followed by one record that cannot be written. */
const HALF_WRITTEN: Readonly<Record<string, Changes>> = {
  documents: { documents: [...everything("a").documents, breakProperty(document("setting", "s.two"), "id")] },
  accounts: { accounts: [...everything("a").accounts, breakProperty(account("b"), "id")] },
  newEvents: { newEvents: [...everything("a").newEvents, breakProperty(newEvent(event("a", 3)), "sent")] },
  events: { events: [...everything("a").events, breakProperty(event("a", 2), "referenceId")] },
  usage: { usage: [...everything("a").usage, breakProperty(cell("a", "um.tokens", TODAY, "1"), "quantity")] },
  overage: { overage: [...everything("a").overage, breakProperty(cell("a", "f.one", TODAY, "1"), "quantity")] },
  entries: { entries: [...everything("a").entries, breakProperty(entry("a", "e.two"), "id")] },
  credits: { credits: [...everything("a").credits, breakProperty(credit("a", "c.two"), "id")] },
  invoices: { invoices: [...everything("a").invoices, breakProperty(invoice("a", "i.two"), "invoice")] },
};

export const atomicityCases: readonly ConformanceCase[] = [
  defineCase("a commit with every kind of change is visible completely", async (store) => {
    assert.deepEqual(await countRecords(store, "a"), NOTHING);
    await commit(store, everything("a"));
    assert.deepEqual(await countRecords(store, "a"), ALL);
  }),

  defineCase("if the work throws, nothing is written and the error is passed on unchanged", async (store) => {
    const error = new Error("refused by the work");
    const transaction = store.transact(createScope(["a"]), () => Promise.reject(error));
    await assert.rejects(transaction, (caught) => caught === error);
    assert.deepEqual(await countRecords(store, "a"), NOTHING);
  }),

  ...Object.entries(HALF_WRITTEN).map(([kind, changes]) =>
    defineCase(`a commit that fails at its last record of ${kind} writes nothing`, async (store) => {
      const scope = createScope(["a", "b"], ["event.a.1", "event.a.2"]);
      const decision = { result: undefined, changes: { ...everything("a"), ...changes } };
      await assert.rejects(store.transact(scope, async () => decision));
      assert.deepEqual(await countRecords(store, "a"), NOTHING);
      await commit(store, everything("a"));
      assert.deepEqual(await countRecords(store, "a"), ALL, "a failed commit can be repeated");
    }),
  ),

  defineCase("a failed commit leaves existing records unchanged", async (store) => {
    await commit(store, everything("a"));
    const scope = createScope(["a"], ["event.a.2"]);
    const changes = {
      usage: [cell("a", "um.tokens", TODAY, "5")],
      entries: [entry("a", "e.one", { voided: true })],
      invoices: [breakProperty(invoice("a", "i.two"), "invoice")],
    };
    await assert.rejects(store.transact(scope, async () => ({ result: undefined, changes })));
    assert.deepEqual(await store.read.usage(["a"], TODAY, TODAY + 1), [
      toLedgerCell(cell("a", "um.tokens", TODAY, "1")),
    ]);
    assert.deepEqual(await store.read.entries(["a"]), [entry("a", "e.one")]);
  }),

  defineCase("the work reads committed records, and its result is returned", async (store) => {
    await commit(store, everything("a"));
    const result = await store.transact(createScope(["a"]), async (view) => {
      const [record] = await view.accounts(["a"]);
      return { result: { netTermDays: record?.netTermDays }, changes: {} };
    });
    assert.deepEqual(result, { netTermDays: 1 });
  }),

  defineCase("a scope may be empty, and a commit may change nothing", async (store) => {
    assert.equal(await store.transact(createScope([]), async () => ({ result: "done", changes: {} })), "done");
  }),

  defineCase("closing a store twice has no further effect", async (store) => {
    await store.close();
    await store.close();
  }),
];
