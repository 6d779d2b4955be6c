/** The conformance suite rejects faulty stores: faults are planted in the memory store, one at a time. */
import { describe, expect, test } from "vitest";

import { parseInstant } from "../../src/calendar/instant.ts";
import { type Changes, DOCUMENT_KINDS } from "../../src/ledger/decision.ts";
import { toEventRecord } from "../../src/ledger/events/new-event.ts";
import { type NewEvent } from "../../src/ledger/records.ts";
import type { LedgerView } from "../../src/ledger/view.ts";
import { Decimal } from "../../src/numbers/decimal.ts";
import { decimalOfExact, exactOfDecimal, subtractExact } from "../../src/numbers/exact.ts";
import { storeConformance } from "../../src/store/conformance.ts";
import { event } from "../../src/store/conformance/samples.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import type { Scope, Store } from "../../src/store/store.ts";
import { sleep } from "../../src/store/yielder.ts";

/** A store with other reads. */
function reading(change: (view: LedgerView) => Partial<LedgerView>): Store {
  const store = memoryStore();
  const read = { ...store.read, ...change(store.read) };
  return { ...store, read, transact: (scope, work) => store.transact(scope, () => work(read)) };
}

/** A store with other locks. */
function locking(change: (scope: Scope) => Scope): Store {
  const store = memoryStore();
  return { ...store, transact: (scope, work) => store.transact(change(scope), work) };
}

/** A store that writes other changes. */
function writing(change: (changes: Changes, view: LedgerView) => Changes | Promise<Changes>): Store {
  const store = memoryStore();
  return {
    ...store,
    transact: (scope, work) =>
      store.transact(scope, async (view) => {
        const { result, changes } = await work(view);
        return { result, changes: await change(changes, view) };
      }),
  };
}

/** A store that commits in two steps; `pause` lets other work run in between. */
function inTwoSteps(pause: () => Promise<void>): Store {
  const store = memoryStore();
  return {
    ...store,
    transact: (scope, work) =>
      store.transact(scope, async (view) => {
        const { result, changes } = await work(view);
        const { accounts = [], events = [], ...others } = changes;
        const early = { configuration: "shared", accountIds: [], eventIds: [] } as const;
        if (scope.configuration === "shared") {
          await store.transact(early, async () => ({ result: undefined, changes: { accounts, events } }));
          await pause();
          return { result, changes: others };
        }
        return { result, changes };
      }),
  };
}

/** A store that acquires locks one after another, in the order in which they are named. */
function lockingAsNamed(): Store {
  const store = memoryStore();
  return {
    ...store,
    transact(scope, work) {
      const next = (rest: readonly string[]): Promise<never> =>
        store.transact({ ...scope, accountIds: rest.slice(0, 1) }, async (view) => {
          if (rest.length <= 1) return (await work(view)) as never;
          await Promise.resolve();
          const result = await next(rest.slice(1));
          return { result, changes: {} };
        });
      return next(scope.accountIds);
    },
  };
}

/** For a fault that random changes and reads must find. */
const HISTORY = "random changes and reads have the results of the memory store";

/** Faults of reads that {@link HISTORY} finds: the reads that are other ones. */
const READING: Readonly<Record<string, (view: LedgerView) => Partial<LedgerView>>> = {
  "quantities go through doubles": (view) => ({
    usage: async (...range) =>
      (await view.usage(...range)).map((cell) => ({ ...cell, quantity: new Decimal(cell.quantity.toNumber()) })),
  }),
  "a cell of 0 is left": (view) => ({
    usage: async (accountIds, from, until) => {
      const cells = await view.usage(accountIds, from, until);
      const [accountId = ""] = accountIds;
      return cells.length > 0 ? cells : [{ accountId, meterOrFeatureId: "m", day: from, quantity: new Decimal(0) }];
    },
  }),
  "a failed event holds its id": (view) => ({
    acceptedIds: async (eventIds) =>
      (await Promise.all(eventIds.map((eventId) => view.events({ eventId }, { limit: 1 })))).flat(),
  }),
  "a page begins with the last item of the page before": (view) => ({
    events: (filter, { limit, after }) =>
      view.events(filter, {
        limit,
        ...(after === undefined ? {} : { after: { ...after, createdAt: after.createdAt + 1 } }),
      }),
  }),
  "lists go oldest first": (view) => ({
    creditList: async (filter, page) => (await view.creditList(filter, page)).toReversed(),
  }),
  "ids are compared by code units": (view) => ({
    accountList: async (filter, page) =>
      (await view.accountList(filter, page)).toSorted(
        (a, b) => b.createdAt - a.createdAt || (a.id < b.id ? -1 : Number(a.id > b.id)),
      ),
  }),
  "events to undo go by time": (view) => ({
    eventsToUndo: async (...query) => (await view.eventsToUndo(...query)).toSorted((a, b) => a.timestamp - b.timestamp),
  }),
  "events to undo are those of the latest day": (view) => ({
    eventsToUndo: async (accountId, filter, limit) =>
      (await view.eventsToUndo(accountId, filter))
        .toSorted((a, b) => b.timestamp - a.timestamp)
        .slice(0, limit)
        .toSorted((a, b) => a.number - b.number),
  }),
  "the last day counts": (view) => ({
    eventsWithOverage: (accountId, featureId, from, until) =>
      view.eventsWithOverage(accountId, featureId, from, until + 1),
  }),
  "an empty text is lost": (view) => ({
    credit: async (id) => {
      const creditRecord = await view.credit(id);
      return creditRecord === undefined
        ? creditRecord
        : (JSON.parse(
            JSON.stringify(creditRecord, (_, value: unknown) => (value === "" ? undefined : value)),
          ) as never);
    },
  }),
  "the revision stands still": () => ({ configurationRevision: async () => 1 }),
  "who is due is left out": (view) => ({
    accountsBehind: (instant, ...rest) => view.accountsBehind(instant - 1, ...rest),
  }),
  "an AD_HOC invoice is found by its date": (view) => ({
    invoiceList: async (filter, page) =>
      (await view.invoiceList(filter, page)).filter(
        ({ invoice }) =>
          filter.period === undefined ||
          invoice.invoiceType !== "AD_HOC" ||
          parseInstant(invoice.invoiceDate) < filter.period.until,
      ),
  }),
  "an invoice is found by the customer that its account has now": (view) => ({
    invoiceList: async ({ customerId, ...filter }, page) => {
      if (customerId === undefined) return view.invoiceList(filter, page);
      const accounts = await view.accountList({ customerId }, { limit: 99 });
      const ids = new Set(accounts.map(({ id }) => id));
      const invoices = await view.invoiceList(filter, { ...page, limit: 99 });
      return invoices.filter(({ accountId }) => ids.has(accountId)).slice(0, page.limit);
    },
  }),
  "events to undo are found whatever account the filter names": (view) => ({
    eventsToUndo: (accountId, filter, ...limit) => view.eventsToUndo(accountId, { ...filter, accountId }, ...limit),
  }),
  "uncharted accounts are those of before": (view) => ({
    accountsWithStaleDraftIndex: (at, ...rest) => view.accountsWithStaleDraftIndex(at - 1, ...rest),
  }),
  "the order of ids is not that of a page's key": (view) => ({
    creditList: async (filter, { limit, after }) => {
      const credits = await view.creditList(filter, { limit: 99 });
      return credits.filter(({ createdAt }) => after === undefined || createdAt < after.createdAt).slice(0, limit);
    },
  }),
  "a page has one item too few": (view) => ({
    draftList: (filter, { limit, ...page }) => view.draftList(filter, { limit: Math.max(1, limit - 1), ...page }),
  }),
  "a filter is ignored": (view) => ({
    draftList: ({ begunBy: _begunBy, ...filter }, page) => view.draftList(filter, page),
  }),
  "the instants of an accepted event are exchanged": (view) => ({
    acceptedIds: async (eventIds) =>
      (await view.acceptedIds(eventIds)).map((accepted) => ({
        ...accepted,
        timestamp: accepted.createdAt,
        createdAt: accepted.timestamp,
      })),
  }),
  "a document is read once for each time that it is asked for": (view) => ({
    documentsOf: async (kind, ids) => (await Promise.all(ids.map((id) => view.documentsOf(kind, [id])))).flat(),
  }),
  "billed usage is found on the day after it": (view) => ({
    billedUsage: (ids, from, until) => view.billedUsage(ids, from - 1, until),
  }),
  "ties are not sorted": (view) => ({
    entries: async (...query) =>
      (await view.entries(...query)).toReversed().toSorted((a, b) => a.createdAt - b.createdAt),
  }),
  "an event comes up that nobody stored": (view) => ({
    events: async (filter, page) => {
      const match = await view.events(filter, page);
      return match.length < page.limit && filter.accountId === "" ? [...match, event("", 9)] : match;
    },
  }),
};

/** Faults of commits that {@link HISTORY} finds: what is written. */
const WRITING: Readonly<Record<string, Parameters<typeof writing>[0]>> = {
  "cells are replaced": async (changes, view) => ({
    ...changes,
    usage: await Promise.all(
      (changes.usage ?? []).map(async (cell) => {
        const [before] = await view.usage([cell.accountId], cell.day, cell.day + 1);
        if (before === undefined) return cell;
        return { ...cell, quantity: subtractExact(cell.quantity, exactOfDecimal(before.quantity)) };
      }),
    ),
  }),
  "a reverted event holds its id": (changes) => ({
    ...changes,
    events: (changes.events ?? []).map((one) => ({ ...one, reverted: false })),
  }),
  "a new event goes without what it measured": (changes) => ({
    ...changes,
    newEvents: (changes.newEvents ?? []).map((row) => ({ ...row, quantities: [] })),
  }),
  "new events go by their ids": (changes) => ({
    ...changes,
    newEvents: (changes.newEvents ?? []).toSorted((a, b) => (a.eventId < b.eventId ? -1 : 1)),
  }),
  "a repeated reference id replaces": ({ newEvents = [], events = [], ...changes }) => ({
    ...changes,
    events: [...events, ...newEvents.map((row, place) => toEventRecord(row, place + 1))],
  }),
  "removed documents stay": (changes) => ({ ...changes, removedDocuments: [] }),
  "places of drafts that an account had stay": async (changes, view) => ({
    ...changes,
    accounts: await Promise.all(
      (changes.accounts ?? []).map(async (account) => {
        const before = await view.draftList({ accountId: account.id }, { limit: 9 });
        const places = [...(account.drafts?.places ?? []), ...before];
        return { ...account, drafts: { until: Infinity, places } };
      }),
    ),
  }),
  "what an undo subtracts is added": (changes) => ({
    ...changes,
    overage: (changes.overage ?? []).map((cell) => {
      const quantity = decimalOfExact(cell.quantity);
      return { ...cell, quantity: exactOfDecimal(quantity.abs()) };
    }),
  }),
  "a document is removed from all kinds": (changes) => ({
    ...changes,
    removedDocuments: (changes.removedDocuments ?? []).flatMap(({ id }) =>
      DOCUMENT_KINDS.map((kind) => ({ kind, id })),
    ),
  }),
  "an undone event loses its units": (changes) => ({
    ...changes,
    events: (changes.events ?? []).map((one) => (one.reverted ? { ...one, units: [] } : one)),
  }),
  "deleted events stay": (changes) => ({ ...changes, removedEvents: [] }),
};

/** Each fault: its implementation, and the case that must reject it. */
const FAULTS: Readonly<Record<string, readonly [string, () => Store]>> = {
  "accounts are not locked": [
    "concurrent writers lose no update of an account, whether it exists or they create it",
    () => locking((scope) => ({ ...scope, accountIds: [] })),
  ],
  "event ids are not locked": [
    "an event id is accepted once, even if several accounts send it at the same time",
    () => locking((scope) => ({ ...scope, eventIds: [] })),
  ],
  "the configuration is always shared": [
    "an exclusive lock on the configuration makes all others wait",
    () => locking((scope) => ({ ...scope, configuration: "shared" })),
  ],
  "one transaction at a time": [
    "writers of different accounts do not wait for each other",
    () => locking((scope) => ({ ...scope, configuration: "exclusive" })),
  ],
  "locks are taken in the order in which they are named": [
    "scopes with overlapping accounts do not deadlock",
    lockingAsNamed,
  ],
  "a commit that fails has written its first half": [HISTORY, () => inTwoSteps(() => Promise.resolve())],
  "a reader comes between the halves of a commit": [
    "a reader sees all changes of a commit or none",
    () => inTwoSteps(() => new Promise((resolve) => void setTimeout(resolve, 3))),
  ],
  "reads started together run one after another": [
    "reads started together see one committed state",
    () => {
      const store = memoryStore();
      const delayedUsage: LedgerView["usage"] = async (...args) => {
        await sleep(2);
        return store.read.usage(...args);
      };
      return { ...store, consistentView: () => ({ ...store.read, usage: delayedUsage }) };
    },
  ],
  "pages are counted, not keyed": [
    HISTORY,
    () => {
      let page = 0;
      return reading((view) => ({
        documents: async (kind, { limit, after }) => {
          page = after === undefined ? 0 : page + 1;
          return (await view.documents(kind, { limit: 99 })).slice(page * limit, (page + 1) * limit);
        },
      }));
    },
  ],
  "new events all get the same number": [
    "new events get the next numbers, in their order; a changed event keeps its number",
    () =>
      reading((view) => ({
        eventsToUndo: async (...query) =>
          (await view.eventsToUndo(...query)).map((event) => ({ ...event, number: Math.min(event.number, 2) })),
      })),
  ],
  "what was sent stays the sender's": [
    "changing an event object after the commit has no effect",
    () => {
      const sentById = new Map<string, NewEvent["sent"]>();
      const store = writing((changes) => {
        for (const { referenceId, sent: each } of changes.newEvents ?? []) sentById.set(referenceId, each);
        return changes;
      });
      const eventsAsSent: LedgerView["events"] = async (...query) =>
        (await store.read.events(...query)).map((match) => ({
          ...match,
          payload: { ...match.payload, ...(sentById.get(match.referenceId) as object) },
        }));
      return { ...store, read: { ...store.read, events: eventsAsSent } };
    },
  ],
  "a large commit is cut": [
    "a commit can have 1000 events of as many accounts",
    () =>
      writing((changes) => ({
        ...changes,
        ...(changes.events === undefined ? {} : { events: changes.events.slice(0, 999) }),
      })),
  ],
  "the last of the new events with a reference id is written": [
    "a commit is rejected if an id of its new events is taken",
    () =>
      writing(({ newEvents = [], ...changes }) => ({
        ...changes,
        newEvents: [...new Map(newEvents.map((each) => [each.referenceId, each])).values()],
      })),
  ],
  "reads of a transaction see nothing": [
    HISTORY,
    () => {
      const store = memoryStore();
      const empty = memoryStore();
      return { ...store, transact: (scope, work) => store.transact(scope, () => work(empty.read)) };
    },
  ],
};

const ofHistories = [
  ...Object.entries(READING).map(([name, change]) => [name, [HISTORY, () => reading(change)]] as const),
  ...Object.entries(WRITING).map(([name, change]) => [name, [HISTORY, () => writing(change)]] as const),
];

describe("the conformance suite", () => {
  test.concurrent.each([...Object.entries(FAULTS), ...ofHistories])(
    "rejects a store in which %s",
    async (_, [refusal, open]) => {
      const cases = storeConformance.filter(({ name }) => name.startsWith(refusal));
      expect(cases).not.toEqual([]);
      const runs = cases.map(({ run }) => run(async () => open()));
      expect((await Promise.allSettled(runs)).filter(({ status }) => status === "rejected")).not.toEqual([]);
    },
  );
});
