/** Lists: order, filters, and paging while records are added. */
import assert from "node:assert/strict";

import { formatInstant, parseInstant } from "../../calendar/instant.ts";
import type { InvoiceRecord } from "../../ledger/records.ts";
import type { EventFilter, PageKey, PageRequest } from "../../ledger/view.ts";
import type { Store } from "../store.ts";
import { commit, type ConformanceCase, defineCase } from "./case.ts";
import { accountWithDueCredits } from "./credits.ts";
import { accountWithDrafts, invoiceFrom, draftFrom } from "./invoices.ts";
import { account, credit, document, entry, event, invoice, NOON } from "./samples.ts";

/** A list, and how to add an item. */
interface List {
  readonly name: string;
  readonly put: (store: Store, id: string, createdAt: number) => Promise<void>;
  readonly read: (store: Store, page: PageRequest) => Promise<readonly PageKey[]>;
}

const eventOf = (id: string, createdAt: number): ReturnType<typeof event> =>
  event("a", createdAt - NOON + 100 * id.length + 1000, { referenceId: id, eventId: `e ${id}`, createdAt });

const eventKeys = async (store: Store, filter: EventFilter, page: PageRequest): Promise<readonly PageKey[]> =>
  (await store.read.events(filter, page)).map(({ referenceId, createdAt }) => ({ id: referenceId, createdAt }));

const invoiceKeys = (records: readonly InvoiceRecord[]): readonly PageKey[] =>
  records.map(({ id, invoice: { startDate } }) => ({ id, createdAt: parseInstant(startDate) }));

const LISTS: readonly List[] = [
  {
    name: "documents",
    put: (store, id, createdAt) => commit(store, { documents: [document("feature", id, {}, createdAt)] }),
    read: (store, page) => store.read.documents("feature", page),
  },
  {
    name: "accounts",
    put: (store, id, createdAt) => commit(store, { accounts: [account(id, { createdAt })] }),
    read: (store, page) => store.read.accountList({}, page),
  },
  {
    name: "events",
    put: (store, id, createdAt) => commit(store, { events: [eventOf(id, createdAt)] }),
    read: (store, page) => eventKeys(store, {}, page),
  },
  {
    name: "events of an account",
    put: (store, id, createdAt) => commit(store, { events: [eventOf(id, createdAt)] }),
    read: (store, page) => eventKeys(store, { accountId: "a" }, page),
  },
  {
    name: "entries",
    put: (store, id, createdAt) => commit(store, { entries: [entry("a", id, { createdAt })] }),
    read: (store, page) => store.read.entryList("a", "f.one", page),
  },
  {
    name: "credits",
    put: (store, id, createdAt) => commit(store, { credits: [credit("a", id, { createdAt })] }),
    read: (store, page) => store.read.creditList({}, page),
  },
  {
    name: "credits of an account",
    put: (store, id, createdAt) => commit(store, { credits: [credit("a", id, { createdAt })] }),
    read: (store, page) => store.read.creditList({ accountId: "a" }, page),
  },
  {
    name: "final invoices",
    put: (store, id, createdAt) => commit(store, { invoices: [invoiceFrom(id, createdAt)] }),
    read: async (store, page) => invoiceKeys(await store.read.invoiceList({}, page)),
  },
  {
    name: "final invoices of an account",
    put: (store, id, createdAt) => commit(store, { invoices: [invoiceFrom(id, createdAt)] }),
    read: async (store, page) => invoiceKeys(await store.read.invoiceList({ accountId: "a" }, page)),
  },
  {
    name: "due credits in the index",
    put: (store, id, createdAt) =>
      commit(store, { accounts: [accountWithDueCredits(`of ${id}`, [{ id, createdAt }])] }),
    read: (store, page) => store.read.dueCreditList({}, page),
  },
  {
    name: "drafts in the index",
    put: (store, id, createdAt) =>
      commit(store, { accounts: [accountWithDrafts(`of ${id}`, [draftFrom(id, createdAt)])] }),
    read: async (store, page) =>
      (await store.read.draftList({}, page)).map(({ id, listedAt: createdAt }) => ({ id, createdAt })),
  },
];

function listCasesFor({ name, put, read }: List): readonly ConformanceCase[] {
  const idsOf = (items: readonly PageKey[]): readonly string[] => items.map(({ id }) => id);
  return [
    defineCase(`${name} are sorted from newest to oldest, then by id in code point order`, async (store) => {
      const ids = ["b", "a", "B", "\u{1F9FE}", "\uFF5E", "é", "a.b", "a-b"];
      for (const id of ids) await put(store, id, NOON);
      await put(store, "old", NOON - 1);
      await put(store, "new", NOON + 1);
      const sorted = ["B", "a", "a-b", "a.b", "b", "é", "\uFF5E", "\u{1F9FE}"];
      assert.deepEqual(idsOf(await read(store, { limit: 99 })), ["new", ...sorted, "old"]);
    }),

    defineCase(`a page of ${name} has the requested size, and the next one continues after it`, async (store) => {
      for (const id of ["a", "b", "c"]) await put(store, id, NOON);
      await put(store, "d", NOON - 5);
      assert.deepEqual(idsOf(await read(store, { limit: 2 })), ["a", "b"]);
      assert.deepEqual(idsOf(await read(store, { limit: 2, after: { createdAt: NOON, id: "b" } })), ["c", "d"]);
      assert.deepEqual(idsOf(await read(store, { limit: 2, after: { createdAt: NOON - 5, id: "d" } })), []);
      const between = { createdAt: NOON - 1, id: "nobody" };
      assert.deepEqual(idsOf(await read(store, { limit: 9, after: between })), ["d"]);
    }),

    defineCase(`pages of ${name} list each item once while items are added and replaced`, async (store) => {
      const ids = Array.from({ length: 7 }, (_, index) => `item.${index}`);
      for (const [index, id] of ids.entries()) await put(store, id, NOON + index);
      const listedIds: string[] = [];
      let page = await read(store, { limit: 2 });
      for (let round = 0; page.length > 0; round++) {
        listedIds.push(...idsOf(page));
        await put(store, `later.${round}`, NOON + 100 + round);
        await put(store, "item.3", NOON + 3);
        const { id = "", createdAt = 0 } = page.at(-1) ?? {};
        page = await read(store, { limit: 2, after: { id, createdAt } });
      }
      assert.deepEqual(listedIds, ids.toReversed());
    }),
  ];
}

/** Filters, single and combined, with the numbers of the events that they find, newest first. */
const FILTERS: readonly (readonly [EventFilter, readonly number[]])[] = [
  [{}, [5, 4, 3, 2, 1]],
  [{ accountId: "a" }, [3, 2, 1]],
  [{ schemaName: "other" }, [4, 2]],
  [{ status: "INGESTION_FAILED" }, [5]],
  [{ status: "INGESTION_COMPLETED_EVENT_METERED" }, [4, 3, 2, 1]],
  [{ accepted: true }, [4, 3, 2, 1]],
  [{ accepted: false }, [5]],
  [{ reverted: true }, [1]],
  [{ reverted: false }, [5, 4, 3, 2]],
  [{ reverted: false, accepted: true, accountId: "a" }, [3, 2]],
  [{ eventId: "same" }, [4, 1]],
  [{ eventId: "same", accountId: "b" }, [4]],
  [{ referenceId: "ref.b.000005" }, [5]],
  [{ referenceId: "ref.b.000005", accountId: "a" }, []],
  [{ timestamp: { from: NOON + 2, until: NOON + 4 } }, [3, 2]],
  [{ createdAt: { from: NOON + 20, until: NOON + 40 } }, [3, 2]],
  [{ createdAt: { from: NOON + 20, until: NOON + 50 }, accountId: "b", schemaName: "other" }, [4]],
  [{ accountId: "nobody" }, []],
  [{ timestamp: { from: NOON, until: NOON } }, []],
];

export const listCases: readonly ConformanceCase[] = [
  ...LISTS.flatMap(listCasesFor),

  defineCase("events are found by any combination of filters, also page by page", async (store) => {
    const createEvent = (
      accountId: string,
      number: number,
      more: Parameters<typeof event>[2] = {},
    ): ReturnType<typeof event> => event(accountId, number, { createdAt: NOON + 10 * number, ...more });
    await commit(store, {
      events: [
        createEvent("a", 1, { eventId: "same", reverted: true }),
        createEvent("a", 2, { schemaName: "other" }),
        createEvent("a", 3),
        createEvent("b", 4, { eventId: "same", schemaName: "other" }),
        createEvent("b", 5, { status: "INGESTION_FAILED" }),
      ],
    });
    for (const [filter, expected] of FILTERS) {
      const all = await store.read.events(filter, { limit: 9 });
      assert.deepEqual(
        all.map(({ number }) => number),
        expected,
        JSON.stringify(filter),
      );
      for (const [index, { createdAt, referenceId }] of all.entries()) {
        const next = await store.read.events(filter, { limit: 1, after: { createdAt, id: referenceId } });
        assert.deepEqual(next, all.slice(index + 1, index + 2), JSON.stringify(filter));
      }
    }
  }),

  defineCase("accounts are found by customer, status and group", async (store) => {
    await commit(store, {
      accounts: [
        account("a"),
        account("b", { status: "ARCHIVED" }),
        account("c", { customerId: "c.two", invoiceGroupId: "g" }),
      ],
    });
    const ids = async (filter: Parameters<typeof store.read.accountList>[0]): Promise<readonly string[]> =>
      (await store.read.accountList(filter, { limit: 9 })).map(({ id }) => id);
    assert.deepEqual(await ids({}), ["a", "b", "c"]);
    assert.deepEqual(await ids({ customerId: "c.one" }), ["a", "b"]);
    assert.deepEqual(await ids({ status: "ARCHIVED" }), ["b"]);
    assert.deepEqual(await ids({ status: "ACTIVE", customerId: "c.one" }), ["a"]);
    assert.deepEqual(await ids({ invoiceGroupId: "g" }), ["c"]);
    assert.deepEqual(await ids({ invoiceGroupId: "g", customerId: "c.one" }), []);
    await commit(store, { accounts: [account("c", { customerId: "c.one" })] });
    assert.deepEqual(await ids({ invoiceGroupId: "g" }), []);
  }),

  defineCase("accounts to catch up are those due at or before an instant, sorted by id", async (store) => {
    const due = { b: NOON, a: NOON + 1, d: NOON - 1, c: NOON + 2 };
    await commit(store, { accounts: Object.entries(due).map(([id, nextDueAt]) => account(id, { nextDueAt })) });
    assert.deepEqual(await store.read.accountsBehind(NOON - 2, 9), []);
    assert.deepEqual(await store.read.accountsBehind(NOON, 9), ["b", "d"]);
    assert.deepEqual(await store.read.accountsBehind(NOON + 1, 2), ["a", "b"]);
    assert.deepEqual(await store.read.accountsBehind(NOON + 1, 2, "b"), ["d"]);
    await commit(store, { accounts: [account("b", { nextDueAt: NOON + 50 })] });
    assert.deepEqual(await store.read.accountsBehind(NOON, 9), ["d"]);
  }),

  defineCase(
    "entries and credits of accounts are sorted by creation, then id; entries also by feature",
    async (store) => {
      await commit(store, {
        entries: [
          entry("a", "y", { createdAt: NOON + 1 }),
          entry("b", "x", { createdAt: NOON + 1 }),
          entry("a", "z", { featureId: "f.two" }),
        ],
        credits: [
          credit("a", "y", { createdAt: NOON + 1 }),
          credit("b", "x", { createdAt: NOON + 1 }),
          credit("a", "z"),
        ],
      });
      const ids = (items: readonly { readonly id: string }[]): readonly string[] => items.map(({ id }) => id);
      assert.deepEqual(ids(await store.read.entries(["b", "a"])), ["z", "x", "y"]);
      assert.deepEqual(ids(await store.read.entries(["a"], "f.one")), ["y"]);
      assert.deepEqual(ids(await store.read.entryList("a", "f.two", { limit: 9 })), ["z"]);
      assert.deepEqual(ids(await store.read.credits(["a", "b", "a"])), ["z", "x", "y"]);
      assert.deepEqual(ids(await store.read.creditList({ accountId: "b" }, { limit: 9 })), ["x"]);
    },
  ),

  defineCase("invoices of accounts are sorted by date, then id, from a given instant", async (store) => {
    const [march, april] = ["2026-03-01T00:00:00.000Z", "2026-04-01T00:00:00.000Z"];
    await commit(store, { invoices: [invoice("a", "x", april), invoice("b", "z", march), invoice("a", "y", march)] });
    const ids = async (accountIds: readonly string[], since: number): Promise<readonly string[]> =>
      (await store.read.invoices(accountIds, since)).map(({ id }) => id);
    assert.deepEqual(await ids(["a", "b"], Number.NEGATIVE_INFINITY), ["y", "z", "x"]);
    assert.deepEqual(await ids(["a"], Number.NEGATIVE_INFINITY), ["y", "x"]);
    const [from, later] = [parseInstant("2026-02-01T00:00:00.000Z"), parseInstant("2026-02-20T00:00:00.000Z")];
    await commit(store, { invoices: [invoiceFrom("long", from, 28), invoiceFrom("late", later, 28)] });
    const adHoc = { invoiceType: "AD_HOC", invoiceDate: formatInstant(later) } as const;
    await commit(store, { invoices: [invoiceFrom("grown", from, 28, adHoc)] });
    const since = async (instant: number): Promise<readonly string[]> =>
      (await ids(["a", "b"], instant)).filter((id) => ["long", "late", "grown"].includes(id)).toSorted();
    assert.deepEqual(await since(from), ["grown", "late", "long"]);
    assert.deepEqual(await since(from + 1), ["grown", "late"]);
    assert.deepEqual(await since(later), ["grown", "late"]);
    assert.deepEqual(await since(later + 1), []);
  }),
];
