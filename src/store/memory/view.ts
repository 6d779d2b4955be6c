/** Reads of a memory store. */
import { type Instant, parseInstant } from "../../calendar/instant.ts";
import { draftIndexKnownUntil, listingInstant } from "../../ledger/account/invoices.ts";
import type { AccountRecord, CreditRecord, InvoiceRecord } from "../../ledger/records.ts";
import type {
  CreditListFilter,
  DraftListFilter,
  DueCreditFilter,
  InvoiceListFilter,
  LedgerView,
  ListedDraft,
  PageRequest,
} from "../../ledger/view.ts";
import { compareIds } from "../../numbers/ids.ts";
import { compareNewest, compareOldest, isWithin } from "../adapter-rules.ts";
import type { RecordTable } from "./records.ts";
import { compareByDate, compareByDays, type MemoryState, storedCreditState } from "./state.ts";

/** A view of the current state; each call sees one committed state, because changes are applied between calls. */
export function createView(state: MemoryState): LedgerView {
  const { documents, accounts, drafts, dueCredits, events, usage, overage, entries, credits, invoices } = state;
  return {
    configurationRevision: async () => state.revision,
    document: async (kind, id) => documents[kind].get(id),
    documentsOf: async (kind, ids) => documents[kind].some(ids),
    allDocuments: async (kind) => [...documents[kind].all()].sort(compareOldest),
    documents: async (kind, page) => documents[kind].page(page, () => true),

    accounts: async (ids) => accounts.some(ids),
    accountList: async (filter, page) => accounts.page(page, createFieldFilter<AccountRecord>(filter)),
    accountsBehind: async (instant, limit, afterId) =>
      findAccountIds(state, limit, afterId, ({ nextDueAt }) => nextDueAt <= instant),
    accountsWithStaleDraftIndex: async (instant, limit, afterId) =>
      findAccountIds(state, limit, afterId, (each) => draftIndexKnownUntil(each.drafts) <= instant),
    draftList: async (filter, page) => {
      const customerOf = (accountId: string): string | undefined => accounts.get(accountId)?.customerId;
      return drafts.page(page, createDraftFilter(filter, customerOf), findByIds(state, drafts, filter));
    },

    acceptedIds: async (eventIds) => events.findAccepted(eventIds),
    events: async (filter, page) => events.list(filter, page),
    eventsToUndo: async (accountId, filter, limit = Infinity) => events.toUndo(accountId, filter, limit),
    eventsWithOverage: (accountId, featureId, from, until, page) =>
      events.withOverage(accountId, featureId, { from, until }, page),
    lastSpent: async (entryId, accountId) => events.lastSpent(accountId, entryId),

    usage: async (accountIds, from, until) => usage.between(accountIds, from, until),
    groupCounts: async (of) => of.map((meterDay) => usage.groupCount(meterDay)),
    overage: async (accountIds, from, until) => overage.between(accountIds, from, until),
    billedUsage: async (accountIds, from, until) =>
      mergeInOrder(
        accountIds,
        (id) => state.billedUsage.of(id).filter((billed) => billed.from < until && billed.until > from),
        compareByDays,
      ),

    entries: async (accountIds, featureId) => {
      const isMatch = createFieldFilter({ featureId });
      return mergeInOrder(accountIds, (id) => entries.of(id).filter(isMatch), compareOldest);
    },
    entryList: async (accountId, featureId, page) =>
      entries.page(page, createFieldFilter({ featureId }), entries.of(accountId)),
    credits: async (accountIds) => mergeInOrder(accountIds, (id) => credits.of(id), compareOldest),
    credit: async (id) => credits.get(id),
    creditList: async (filter, page) =>
      credits.page(page, createCreditFilter(filter), findByIds(state, credits, filter)),
    dueCreditList: async (filter, page) =>
      dueCredits.page(skipLaterCredits(filter, page), () => true, findByIds(state, dueCredits, filter)),
    invoices: async (accountIds, since) => {
      const isListed = ({ invoice }: InvoiceRecord): boolean => since === -Infinity || listingInstant(invoice) >= since;
      return mergeInOrder(accountIds, (id) => invoices.of(id).filter(isListed), compareByDate);
    },
    invoice: async (id) => invoices.get(id),
    invoiceList: async (filter, page) =>
      invoices.page(page, createInvoiceFilter(filter), findByIds(state, invoices, filter)),
  };
}

/** The first ids, ascending and after `afterId`, of accounts that match. */
function findAccountIds(
  { accounts, accountIds }: MemoryState,
  limit: number,
  afterId: string | undefined,
  isMatch: (account: AccountRecord) => boolean,
): readonly string[] {
  const ids: string[] = [];
  for (const id of accountIds.from((each) => afterId !== undefined && compareIds(each, afterId) <= 0)) {
    if (ids.length === limit) break;
    const account = accounts.get(id);
    if (account !== undefined && isMatch(account)) ids.push(id);
  }
  return ids;
}

/** The records to filter, if the filter has an id, an account or a customer. */
function findByIds<Item>(
  { accountsOfCustomers }: MemoryState,
  table: RecordTable<Item>,
  { id, accountId, customerId }: { readonly id?: string; readonly accountId?: string; readonly customerId?: string },
): readonly Item[] | undefined {
  if (id !== undefined) return table.some([id]);
  if (accountId !== undefined) return table.of(accountId);
  if (customerId === undefined) return undefined;
  return [...(accountsOfCustomers.get(customerId) ?? [])].flatMap(table.of);
}

/** A page that begins after the credits that are due later, which come first. Instants are whole milliseconds. */
function skipLaterCredits({ dueBy = Infinity }: DueCreditFilter, page: PageRequest): PageRequest {
  const start = { createdAt: dueBy + 0.5, id: "" };
  return page.after !== undefined && compareNewest(page.after, start) > 0 ? page : { ...page, after: start };
}

/** Merges the sorted records of several accounts. */
function mergeInOrder<Item>(
  accountIds: readonly string[],
  of: (accountId: string) => readonly Item[],
  compare: (a: Item, b: Item) => number,
): readonly Item[] {
  const ids = [...new Set(accountIds)];
  const [only] = ids;
  return only !== undefined && ids.length === 1 ? of(only) : ids.flatMap(of).sort(compare);
}

/** Creates a predicate for records with the values of some fields; undefined does not filter. */
function createFieldFilter<Item>(filter: { readonly [Name in keyof Item]?: Item[Name] | undefined }): (
  item: Item,
) => boolean {
  const fields = Object.entries(filter).filter(([, value]) => value !== undefined);
  return (item) => fields.every(([name, value]) => item[name as keyof Item] === value);
}

/** Creates a predicate for credits by state and end. */
function createCreditFilter({
  state,
  endsBy = Infinity,
  endsAfter,
}: CreditListFilter): (credit: CreditRecord) => boolean {
  return (credit) => {
    const { effectiveUntil = Infinity } = credit;
    if (effectiveUntil > endsBy || (endsAfter !== undefined && effectiveUntil <= endsAfter)) return false;
    return state === undefined || storedCreditState(credit) === state;
  };
}

/** Creates a predicate for final invoices. */
function createInvoiceFilter({ customerId, status, period }: InvoiceListFilter): (record: InvoiceRecord) => boolean {
  // Many invoices have the dates of one cycle.
  const instants = new Map<string, Instant>();
  const parseCached = (text: string): Instant => {
    const instant = instants.get(text) ?? parseInstant(text);
    instants.set(text, instant);
    return instant;
  };
  return ({ invoice }) => {
    if (customerId !== undefined && invoice.customerId !== customerId) return false;
    if (status !== undefined && invoice.status !== status) return false;
    if (period === undefined) return true;
    return overlapsPeriod({ start: parseCached(invoice.startDate), end: parseCached(invoice.endDate) }, period);
  };
}

/** Creates a predicate for draft index entries. */
function createDraftFilter(
  { accountId, customerId, begunBy = Infinity, final, period }: DraftListFilter,
  customerOf: (accountId: string) => string | undefined,
): (draft: ListedDraft) => boolean {
  return (draft) =>
    (accountId === undefined || draft.accountId === accountId) &&
    (customerId === undefined || customerOf(draft.accountId) === customerId) &&
    draft.start <= begunBy &&
    isWithin(draft.finalAt, final) &&
    (period === undefined || overlapsPeriod(draft, period));
}

/** Whether a billing period touches `[from, until)`. */
function overlapsPeriod(
  { start, end }: { readonly start: Instant; readonly end: Instant },
  { from, until }: NonNullable<DraftListFilter["period"]>,
): boolean {
  return start < until && end > from;
}
