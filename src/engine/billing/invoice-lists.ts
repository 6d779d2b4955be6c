/**
 * Lists invoices of all accounts: final ones from the store, and the drafts that may be on the page (S13.4).
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import type { InvoiceRecord } from "../../ledger/records.ts";
import type { DraftListFilter, InvoiceListFilter, LedgerView, ListedDraft, PageKey } from "../../ledger/view.ts";
import { accountsWithStaleDrafts, splitIntoChunks } from "../all-accounts.ts";
import type { EngineContext } from "../context.ts";
import { collectPage, type Page, type PageOptions, pageRequest } from "../pages.ts";
import {
  toFinalSnapshot,
  type InvoiceFilter,
  invoiceKey,
  type InvoiceSnapshot,
  readInvoices,
  periodFilter,
} from "./invoices.ts";
import { refreshDraftIndexes } from "./refresh-draft-indexes.ts";
import { collectSkipped, retryPerAccount, type SkippedCollector, type WithoutSkipped } from "./skipped-accounts.ts";

/** Accounts computed together. */
const CHUNK = 64;

/**
 * A page of invoices, final ones and the drafts of every cycle that has begun, by the start of their cycle, newest
 * first. Computing drafts is far more expensive than reading final invoices, so only those that may be on the page are
 * computed, by the draft index in the store. Missing indexes and due invoices of the page found by a read are stored.
 * Accounts whose bill cannot be computed are skipped, except for their final invoices; if such an account is requested
 * alone, the list is rejected.
 *
 * @param refreshed the accounts whose draft index was rebuilt for this page
 */
export async function listInvoices(
  context: EngineContext,
  filter: InvoiceFilter,
  options: PageOptions,
  refreshed: Set<string> = new Set(),
): Promise<Page<InvoiceSnapshot> & WithoutSkipped> {
  const { read } = context.store;
  const request = pageRequest(options);
  const { storedFilter, isRequested } = parseFilter(filter);
  const collector = collectPage(options, invoiceKey);
  const skipping = collectSkipped();
  const { computeAll, computeDrafts } = computing(context, filter, skipping, (snapshot) => {
    if (isRequested(snapshot)) collector.offer(snapshot);
  });
  const readFinalInvoices = async (view: LedgerView): Promise<readonly InvoiceRecord[]> =>
    filter.status === "DRAFT" ? [] : view.invoiceList(storedFilter, { ...request, limit: request.limit + 1 });
  const now = context.clock();
  const requested = draftFilter(storedFilter, now);
  // One more than the page size, to detect a next page.
  const limit = Math.min(CHUNK, request.limit + 1);
  const draftsAfter = async (view: LedgerView, after: PageKey | undefined): Promise<readonly ListedDraft[]> =>
    requested === undefined ? [] : view.draftList(requested, after === undefined ? { limit } : { limit, after });

  const view = await context.store.consistentView();
  const [first, final, stale] = await Promise.all([
    draftsAfter(view, request.after),
    readFinalInvoices(view),
    view.accountsWithStaleDraftIndex(now, CHUNK),
  ]);
  if (stale.length > 0 && (await refreshDraftIndexes(context, refreshed, filter.accountId))) {
    return listInvoices(context, filter, options, refreshed);
  }
  const areFew = stale.length < CHUNK;
  for (const record of final) collector.offer(toFinalSnapshot(record));
  let [isLater, isStale] = [!areFew, false];
  for (let drafts = first; drafts.length > 0;) {
    const onPage = drafts.filter((draft) => !collector.isBeyond(draftKey(draft)));
    if (await computeDrafts(onPage)) isStale = true;
    const last = drafts.at(-1);
    if (drafts.length < limit || last === undefined || collector.isBeyond(draftKey(last))) break;
    drafts = await draftsAfter(read, draftKey(last));
    isLater = true;
  }
  // A draft may have become final since the first read, or an index stale: read both again.
  if (isLater || isStale) for (const record of await readFinalInvoices(read)) collector.offer(toFinalSnapshot(record));
  if (isLater) {
    for await (const ids of splitIntoChunks(accountsWithStaleDrafts(read, now), CHUNK))
      await computeAll(await filterAccounts(read, ids, filter));
  } else {
    await computeAll(await filterAccounts(read, stale, filter));
  }
  return { ...collector.page(), ...skipping.result() };
}

/** Computes the invoices of accounts in a list. */
interface Computing {
  /** Computes these accounts in full, each once, because their draft index cannot be computed. */
  readonly computeAll: (accountIds: readonly string[]) => Promise<void>;
  /** @returns whether some drafts do not exist: they have no lines, or are stored by now */
  readonly computeDrafts: (drafts: readonly ListedDraft[]) => Promise<boolean>;
}

function computing(
  context: EngineContext,
  { accountId }: Pick<InvoiceFilter, "accountId">,
  skipping: SkippedCollector,
  offer: (snapshot: InvoiceSnapshot) => void,
): Computing {
  const computed = new Set<string>();
  const compute = async (accountIds: readonly string[], ids?: ReadonlySet<string>): Promise<number> => {
    if (accountIds.length === 0) return 0;
    const work = (chunk: readonly string[]): Promise<readonly InvoiceSnapshot[]> =>
      readInvoices(context, chunk, undefined, ids, "lazily");
    const snapshot =
      accountId === undefined ? await retryPerAccount(accountIds, skipping, work) : await work(accountIds);
    for (const each of snapshot) offer(each);
    return snapshot.length;
  };
  return {
    async computeAll(accountIds) {
      const newIds = accountIds.filter((id) => !computed.has(id));
      for (const id of newIds) computed.add(id);
      await compute(newIds);
    },
    async computeDrafts(drafts) {
      const newDrafts = drafts.filter((each) => !computed.has(each.accountId));
      const accountIds = new Set(newDrafts.map((each) => each.accountId));
      return (await compute([...accountIds], new Set(newDrafts.map(({ id }) => id)))) < newDrafts.length;
    },
  };
}

/** A filter for the store, and a predicate for computed invoices. */
function parseFilter({ accountId, customerId, status, from, until }: InvoiceFilter): {
  readonly storedFilter: InvoiceListFilter;
  readonly isRequested: (snapshot: InvoiceSnapshot) => boolean;
} {
  const { period, touches } = periodFilter(from, until);
  const storedFilter = {
    ...(accountId === undefined ? {} : { accountId }),
    ...(customerId === undefined ? {} : { customerId }),
    ...(status === undefined ? {} : { status }),
    ...(period === undefined ? {} : { period }),
  };
  const isRequested = ({ invoice }: InvoiceSnapshot): boolean =>
    (customerId === undefined || invoice.customerId === customerId) &&
    (status === undefined || invoice.status === status) &&
    touches(invoice);
  return { storedFilter, isRequested };
}

/**
 * The filter for draft index entries: a draft past its final date counts as final.
 *
 * @returns undefined if no draft can match: MERGED invoices are stored
 */
function draftFilter({ status, ...filter }: InvoiceListFilter, now: Instant): DraftListFilter | undefined {
  const filterOfStarted = { ...filter, begunBy: now };
  switch (status) {
    case "MERGED":
      return undefined;
    case "DUE":
    case "PAID":
      return { ...filterOfStarted, final: { from: Number.NEGATIVE_INFINITY, until: now + 1 } };
    case "DRAFT":
      return { ...filterOfStarted, final: { from: now + 1, until: Number.POSITIVE_INFINITY } };
    default:
      return filterOfStarted;
  }
}

/** The accounts that match a filter. */
async function filterAccounts(
  read: LedgerView,
  ids: readonly string[],
  { accountId, customerId }: Pick<InvoiceFilter, "accountId" | "customerId">,
): Promise<readonly string[]> {
  const matchingIds = accountId === undefined ? ids : ids.filter((id) => id === accountId);
  if (customerId === undefined || matchingIds.length === 0) return matchingIds;
  return (await read.accounts(matchingIds)).filter((record) => record.customerId === customerId).map(({ id }) => id);
}

function draftKey({ listedAt: createdAt, id }: ListedDraft): PageKey {
  return { createdAt, id };
}
