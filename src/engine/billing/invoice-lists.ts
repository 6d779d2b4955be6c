/** Lists invoices of all accounts: final ones from the store, and the drafts that may be on the page (S13.4). */
import * as z from "zod";

import type { Instant } from "../../calendar/instant.ts";
import { EVENT_LINE_TYPES } from "../../ledger/preview/line-trace.ts";
import type { InvoiceRecord } from "../../ledger/records.ts";
import type { DraftListFilter, InvoiceListFilter, LedgerView, ListedDraft, PageKey } from "../../ledger/view.ts";
import {
  accountsWithStaleDrafts,
  splitIntoChunks,
  refreshDraftIndexes,
  collectSkipped,
  retryPerAccount,
  type SkippedCollector,
  type WithSkipped,
} from "../all-accounts.ts";
import { type EngineContext, ID, idMethod, listMethod, method, PAGED, textFields } from "../methods.ts";
import { collectPage, type Page, type PageOptions, pageRequest } from "../pages.ts";
import {
  toFinalSnapshot,
  type InvoiceFilter,
  invoiceKey,
  type InvoiceSnapshot,
  readInvoice,
  readInvoices,
  periodFilter,
} from "./invoices.ts";
import { lineEvents } from "./line-events.ts";

export const invoiceMethods = {
  /**
   * Final invoices and the drafts of every cycle that has begun, by the start of their cycle, newest first. Without
   * drafts of accounts whose bill cannot be computed, unless such an account is requested alone.
   */
  list: listMethod(textFields("accountId", "customerId", "status"), listInvoices),
  /** @throws {RatebookError} ERR_NOT_FOUND */
  get: idMethod(readInvoice),
  /**
   * The stored events behind a line for a meter's usage or a feature's overage, the latest ingested first, each with
   * the quantity that it added.
   *
   * @throws {RatebookError} ERR_NOT_FOUND, ERR_INPUT_INVALID for a line that does not charge events
   */
  lineEvents: method(
    { of: z.strictObject({ invoiceId: ID, lineId: ID, type: z.enum(EVENT_LINE_TYPES).optional() }), ...PAGED },
    lineEvents,
  ),
};

/** Accounts computed together. */
const CHUNK = 64;

/**
 * A page of invoices, final ones and the drafts of every cycle that has begun, by the start of their cycle, newest
 * first. Computing drafts is far more expensive than reading final invoices, so only those that may be on the page are
 * computed, by the draft index in the store. A read that finds missing indexes or due invoices stores them.
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
): Promise<Page<InvoiceSnapshot> & WithSkipped> {
  const { read } = context.store;
  const request = pageRequest(options);
  const { storedFilter, isRequested } = parseFilter(filter);
  const collector = collectPage(options, invoiceKey);
  const skipping = collectSkipped();
  const { computeAll, computeDrafts } = createInvoiceComputation(context, filter, skipping, (snapshot) => {
    if (isRequested(snapshot)) collector.offer(snapshot);
  });
  const readFinalInvoices = async (view: LedgerView): Promise<readonly InvoiceRecord[]> =>
    filter.status === "DRAFT" ? [] : view.invoiceList(storedFilter, { ...request, limit: request.limit + 1 });
  const now = context.clock();
  const draftsFilter = draftFilter(storedFilter, now);
  // One more than the page size, to detect a next page.
  const limit = Math.min(CHUNK, request.limit + 1);
  const readDraftsAfter = async (view: LedgerView, after: PageKey | undefined): Promise<readonly ListedDraft[]> =>
    draftsFilter === undefined ? [] : view.draftList(draftsFilter, after === undefined ? { limit } : { limit, after });

  const view = await context.store.consistentView();
  const [first, finalInvoices, staleIds] = await Promise.all([
    readDraftsAfter(view, request.after),
    readFinalInvoices(view),
    view.accountsWithStaleDraftIndex(now, CHUNK),
  ]);
  if (staleIds.length > 0 && (await refreshDraftIndexes(context, refreshed, filter.accountId))) {
    return listInvoices(context, filter, options, refreshed);
  }
  const hasAllStale = staleIds.length < CHUNK;
  for (const record of finalInvoices) collector.offer(toFinalSnapshot(record));
  let [hasReadLater, hasStaleDrafts] = [!hasAllStale, false];
  for (let drafts = first; drafts.length > 0;) {
    const onPage = drafts.filter((draft) => !collector.isBeyond(draftKey(draft)));
    if (await computeDrafts(onPage)) hasStaleDrafts = true;
    const last = drafts.at(-1);
    if (drafts.length < limit || last === undefined || collector.isBeyond(draftKey(last))) break;
    drafts = await readDraftsAfter(read, draftKey(last));
    hasReadLater = true;
  }
  // A draft may have become final since the first read, and an index may have become stale: read both again.
  if (hasReadLater || hasStaleDrafts)
    for (const record of await readFinalInvoices(read)) collector.offer(toFinalSnapshot(record));
  if (hasReadLater) {
    for await (const ids of splitIntoChunks(accountsWithStaleDrafts(read, now), CHUNK))
      await computeAll(await filterAccounts(read, ids, filter));
  } else {
    await computeAll(await filterAccounts(read, staleIds, filter));
  }
  return { ...collector.page(), ...skipping.result() };
}

/** Computes the invoices of accounts in a list. */
interface InvoiceComputation {
  /** Computes these accounts in full, each once, because their draft index cannot be computed. */
  readonly computeAll: (accountIds: readonly string[]) => Promise<void>;
  /** @returns whether some drafts do not exist: they have no lines, or are stored by now */
  readonly computeDrafts: (drafts: readonly ListedDraft[]) => Promise<boolean>;
}

function createInvoiceComputation(
  context: EngineContext,
  { accountId }: Pick<InvoiceFilter, "accountId">,
  skipping: SkippedCollector,
  offer: (snapshot: InvoiceSnapshot) => void,
): InvoiceComputation {
  const computedIds = new Set<string>();
  const compute = async (accountIds: readonly string[], ids?: ReadonlySet<string>): Promise<number> => {
    if (accountIds.length === 0) return 0;
    const readChunk = (chunk: readonly string[]): Promise<readonly InvoiceSnapshot[]> =>
      readInvoices(context, chunk, undefined, ids, "lazily");
    const snapshots =
      accountId === undefined ? await retryPerAccount(accountIds, skipping, readChunk) : await readChunk(accountIds);
    for (const each of snapshots) offer(each);
    return snapshots.length;
  };
  return {
    async computeAll(accountIds) {
      const newIds = accountIds.filter((id) => !computedIds.has(id));
      for (const id of newIds) computedIds.add(id);
      await compute(newIds);
    },
    async computeDrafts(drafts) {
      const newDrafts = drafts.filter((each) => !computedIds.has(each.accountId));
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
  const startedFilter = { ...filter, begunBy: now };
  switch (status) {
    case "MERGED":
      return undefined;
    case "DUE":
    case "PAID":
      return { ...startedFilter, final: { from: Number.NEGATIVE_INFINITY, until: now + 1 } };
    case "DRAFT":
      return { ...startedFilter, final: { from: now + 1, until: Number.POSITIVE_INFINITY } };
    default:
      return startedFilter;
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
