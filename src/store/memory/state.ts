/**
 * What a memory store holds, how changes are applied to it, and how it is read.
 *
 * @module
 */
import { type Changes, DOCUMENT_KINDS, type DocumentKind, type DocumentRecord } from "../../ledger/decision.ts";
import { compareIds } from "../../ledger/order.ts";
import type { AccountRecord, CreditRecord, EntryRecord, InvoiceRecord } from "../../ledger/records.ts";
import { quoted, taken } from "../../ledger/refusals.ts";
import type { LedgerView } from "../../ledger/view.ts";
import { compareOldest } from "../order.ts";
import { type CellTable, createCellTable } from "./cells.ts";
import { createEventTable, type EventTable } from "./events.ts";
import { type Ordered, ordered } from "./ordered.ts";
import { createRecordTable, type RecordTable } from "./records.ts";

/** Everything that a memory store holds. */
export interface MemoryState {
  revision: number;
  readonly documents: Readonly<Record<DocumentKind, RecordTable<DocumentRecord>>>;
  readonly accounts: RecordTable<AccountRecord>;
  /** The ids of all accounts, ascending. */
  readonly accountIds: Ordered<string>;
  readonly events: EventTable;
  readonly usage: CellTable;
  readonly overage: CellTable;
  readonly entries: RecordTable<EntryRecord>;
  readonly credits: RecordTable<CreditRecord>;
  readonly invoices: RecordTable<InvoiceRecord>;
}

/** Nothing. */
export function emptyState(): MemoryState {
  const documentTable = (): RecordTable<DocumentRecord> =>
    createRecordTable<DocumentRecord>({ key: (record) => record, owner: () => undefined, compare: compareOldest });
  return {
    revision: 0,
    documents: Object.fromEntries(DOCUMENT_KINDS.map((kind) => [kind, documentTable()])) as Record<
      DocumentKind,
      RecordTable<DocumentRecord>
    >,
    accounts: createRecordTable<AccountRecord>({
      key: (record) => record,
      owner: () => undefined,
      compare: compareOldest,
    }),
    accountIds: ordered(compareIds),
    events: createEventTable(),
    usage: createCellTable(),
    overage: createCellTable(),
    entries: createRecordTable<EntryRecord>({
      key: (record) => record,
      owner: ({ accountId }) => accountId,
      compare: compareOldest,
    }),
    credits: createRecordTable<CreditRecord>({
      key: (record) => record,
      owner: ({ accountId }) => accountId,
      compare: compareOldest,
    }),
    invoices: createRecordTable<InvoiceRecord>({
      key: ({ id, finalizedAt }) => ({ id, createdAt: finalizedAt }),
      owner: ({ accountId }) => accountId,
      compare: compareByDate,
    }),
  };
}

/**
 * Applies changes, all or none: whatever can fail comes first and is taken back.
 *
 * @throws {RatebookError} ERR_ARITHMETIC when a sum of usage or overage needs more than 100 digits
 */
export function applyChanges(state: MemoryState, changes: Changes): void {
  const records = readAll(changes);
  for (const { referenceId } of records.newEvents) {
    if (!state.events.has(referenceId)) continue;
    throw taken("event", referenceId, `the reference id ${quoted(referenceId)} is taken: ids are made twice`);
  }
  addCells(state, changes);
  for (const { kind, id } of records.removedDocuments) state.documents[kind].remove(id);
  for (const document of records.documents) state.documents[document.kind].put(document);
  for (const account of records.accounts) if (state.accounts.put(account)) state.accountIds.add(account.id);
  for (const event of records.newEvents) state.events.add(event);
  for (const event of records.events) state.events.put(event);
  for (const entry of records.entries) state.entries.put(entry);
  for (const credit of records.credits) state.credits.put(credit);
  for (const invoice of records.invoices) state.invoices.put(invoice);
  if (changes.configurationChanged === true) state.revision += 1;
}

/** Adds all that is counted, or nothing. */
function addCells({ usage, overage }: MemoryState, changes: Changes): void {
  const takeBack = usage.add(changes.usage ?? []);
  try {
    overage.add(changes.overage ?? []);
  } catch (error) {
    takeBack();
    throw error;
  }
}

type Lists = Required<Omit<Changes, "configurationChanged" | "usage" | "overage">>;

/** The lists of changes, after a look at what the tables will ask of each record: a broken one breaks nothing else. */
function readAll(changes: Changes): Lists {
  const { documents = [], removedDocuments = [], accounts = [], newEvents = [], events = [] } = changes;
  const { entries = [], credits = [], invoices = [] } = changes;
  for (const records of [documents, accounts, entries, credits])
    for (const { id, createdAt } of records) look(id, createdAt);
  for (const { kind, id } of removedDocuments) look(kind, id);
  for (const records of [entries, credits]) for (const { accountId } of records) look(accountId);
  for (const { referenceId, accountId, eventId, number, feature } of events) {
    look(referenceId, accountId, eventId, number, feature);
  }
  lookAtNew(newEvents);
  for (const { id, accountId, finalizedAt, invoice } of invoices) look(id, accountId, finalizedAt, invoice.invoiceDate);
  return { documents, removedDocuments, accounts, newEvents, events, entries, credits, invoices };
}

function lookAtNew(newEvents: Lists["newEvents"]): void {
  for (const { referenceId, accountId, eventId, sent } of newEvents) {
    look(referenceId, accountId, eventId, sent.accountId, sent.attributes, sent.dimensions);
  }
}

/** Reading a property is the test: one that cannot be read throws here. */
function look(...values: readonly unknown[]): number {
  return values.length;
}

/** A view of what is held now; each call sees one committed state, since changes are applied between calls. */
export function viewOf(state: MemoryState): LedgerView {
  const { documents, accounts, events, usage, overage, entries, credits, invoices } = state;
  return {
    configurationRevision: async () => state.revision,
    document: async (kind, id) => documents[kind].get(id),
    documentsOf: async (kind, ids) => documents[kind].some(ids),
    allDocuments: async (kind) => [...documents[kind].all()].toSorted(compareOldest),
    documents: async (kind, page) => documents[kind].page(page, () => true),

    accounts: async (ids) => accounts.some(ids),
    accountList: async ({ customerId, status, invoiceGroupId }, page) =>
      accounts.page(
        page,
        (account) =>
          (customerId === undefined || account.customerId === customerId) &&
          (status === undefined || account.status === status) &&
          (invoiceGroupId === undefined || account.invoiceGroupId === invoiceGroupId),
      ),
    accountsBehind: async (instant, limit, afterId) => {
      const behind: string[] = [];
      for (const id of state.accountIds.from((id) => afterId !== undefined && compareIds(id, afterId) <= 0)) {
        if (behind.length >= limit) break;
        const account = accounts.get(id);
        if (account !== undefined && account.nextDueAt <= instant) behind.push(id);
      }
      return behind;
    },

    acceptedIds: async (eventIds) => events.accepted(eventIds),
    events: async (filter, page) => events.list(filter, page),
    eventsToUndo: async (accountId, filter, limit = Infinity) => events.toUndo(accountId, filter, limit),
    eventsWithOverage: async (accountId, featureId, from, until, page) =>
      events.withOverage(accountId, featureId, { from, until }, page),
    lastSpent: async (entryId, accountId) => events.lastSpent(accountId, entryId),

    usage: async (accountIds, from, until) => usage.between(accountIds, from, until),
    overage: async (accountIds, from, until) => overage.between(accountIds, from, until),

    entries: async (accountIds, featureId) =>
      inOrder(
        accountIds,
        (id) => {
          const own = entries.of(id);
          return featureId === undefined ? own : own.filter((entry) => entry.featureId === featureId);
        },
        compareOldest,
      ),
    entryList: async (accountId, featureId, page) =>
      entries.pageOf(accountId, page, (entry) => entry.featureId === featureId),
    credits: async (accountIds) => inOrder(accountIds, (id) => credits.of(id), compareOldest),
    credit: async (id) => credits.get(id),
    creditList: async ({ accountId }, page) =>
      accountId === undefined ? credits.page(page, () => true) : credits.pageOf(accountId, page, () => true),
    invoices: async (accountIds) => inOrder(accountIds, (id) => invoices.of(id), compareByDate),
    invoice: async (id) => invoices.get(id),
  };
}

/** The records of several accounts in one order; those of one account are in it already. */
function inOrder<Item>(
  accountIds: readonly string[],
  of: (accountId: string) => readonly Item[],
  compare: (a: Item, b: Item) => number,
): readonly Item[] {
  const ids = [...new Set(accountIds)];
  const [only] = ids;
  return only !== undefined && ids.length === 1 ? of(only) : ids.flatMap(of).sort(compare);
}

/** Invoices go by their date, then id. */
function compareByDate(a: InvoiceRecord, b: InvoiceRecord): number {
  return compareIds(a.invoice.invoiceDate, b.invoice.invoiceDate) || compareIds(a.id, b.id);
}
