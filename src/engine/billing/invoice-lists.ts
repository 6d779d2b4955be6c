/**
 * Lists of invoices over all accounts: final ones as they are stored, and the drafts that may stand on the page (S13.4).
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import type {
  DraftListFilter,
  InvoiceListFilter,
  LedgerView,
  ListedDraft,
  PageKey,
  PageRequest,
} from "../../ledger/view.ts";
import { accountsUncharted } from "../account-lists.ts";
import type { EngineContext } from "../context.ts";
import { collectPage, type CollectedPage, type Page, type PageOptions, pageRequest } from "../pages.ts";
import { finalShown, type InvoiceFilter, invoiceKey, type InvoiceShown, invoicesOf, periodFilter } from "./invoices.ts";
import { collectSkipped, eachAlone, type WithoutSkipped } from "./skipped-accounts.ts";

/** Accounts that are computed at once. */
const CHUNK = 64;

/**
 * A page of invoices, final ones and the drafts of every begun cycle, by the start of their cycle, newest first.
 *
 * Drafts are computed, which costs far more than to read what is final: only those accounts are computed whose drafts may
 * stand on the page, by the places that the store keeps of them, and those of whose drafts nobody knows the places. One
 * whose bill cannot be made is skipped: its final invoices are there all the same. Asked for alone, it is refused.
 */
export async function listInvoices(
  context: EngineContext,
  filter: InvoiceFilter,
  options: PageOptions,
): Promise<Page<InvoiceShown> & WithoutSkipped> {
  const { read } = context.store;
  const request = pageRequest(options);
  const { stored, isAsked } = filterOf(filter);
  const found = collectPage(options, invoiceKey);
  const skipping = collectSkipped();
  const computed = new Set<string>();
  const compute = async (ids: Iterable<string>): Promise<void> => {
    const fresh = [...new Set(ids)].filter((id) => !computed.has(id));
    for (const id of fresh) computed.add(id);
    if (fresh.length === 0) return;
    const work = (some: readonly string[]): Promise<readonly InvoiceShown[]> => invoicesOf(context, some, undefined);
    const shown = filter.accountId === undefined ? await eachAlone(fresh, skipping, work) : await work(fresh);
    for (const each of shown) if (isAsked(each)) found.offer(each);
  };
  const offerFinal = async (): Promise<void> => {
    if (filter.status === "DRAFT") return;
    for (const record of await read.invoiceList(stored, { ...request, limit: request.limit + 1 })) {
      found.offer(finalShown(record));
    }
  };

  let chunks = 0;
  for await (const drafts of draftsOnPage(read, draftFilter(stored, context.clock()), request, found)) {
    if (chunks === 0) await offerFinal();
    chunks += 1;
    const onPage = drafts.filter((draft) => !found.isBeyond(keyOf(draft)));
    await compute(onPage.map(({ accountId }) => accountId));
  }
  // An invoice that became final meanwhile was still a draft when places were read, or is among those that are read after them.
  if (chunks !== 1) await offerFinal();
  for await (const ids of unchartedAmong(read, filter, context.clock())) await compute(ids);
  return { ...found.page(), ...skipping.found() };
}

/** A filter as the store takes it, and as a test of computed invoices. */
function filterOf({ accountId, customerId, status, from, until }: InvoiceFilter): {
  readonly stored: InvoiceListFilter;
  readonly isAsked: (shown: InvoiceShown) => boolean;
} {
  const { period, touches } = periodFilter(from, until);
  const stored = {
    ...(accountId === undefined ? {} : { accountId }),
    ...(customerId === undefined ? {} : { customerId }),
    ...(status === undefined ? {} : { status }),
    ...(period === undefined ? {} : { period }),
  };
  const isAsked = ({ invoice }: InvoiceShown): boolean =>
    (customerId === undefined || invoice.customerId === customerId) &&
    (status === undefined || invoice.status === status) &&
    touches(invoice);
  return { stored, isAsked };
}

/** The places of drafts that may be asked for, if any: what may be final by now is, and none is MERGED before it is stored. */
function draftFilter({ status, ...filter }: InvoiceListFilter, now: Instant): DraftListFilter | undefined {
  const begun = { ...filter, begunBy: now };
  switch (status) {
    case "MERGED":
      return undefined;
    case "DUE":
    case "PAID":
      return { ...begun, final: { from: Number.NEGATIVE_INFINITY, until: now + 1 } };
    case "DRAFT":
      return { ...begun, final: { from: now + 1, until: Number.POSITIVE_INFINITY } };
    default:
      return begun;
  }
}

/** The places of drafts up to the end of the page, as far as it is known by then, a few at a time. */
async function* draftsOnPage(
  read: LedgerView,
  filter: DraftListFilter | undefined,
  { limit: most, after: start }: PageRequest,
  page: CollectedPage<InvoiceShown>,
): AsyncGenerator<readonly ListedDraft[], undefined> {
  if (filter === undefined) return undefined;
  // One more than the page tells whether there is a next one.
  const limit = Math.min(CHUNK, most + 1);
  for (let after = start; ;) {
    const drafts = await read.draftList(filter, { limit, ...(after === undefined ? {} : { after }) });
    const [first, last] = [drafts[0], drafts.at(-1)];
    if (first === undefined || last === undefined || page.isBeyond(keyOf(first))) return undefined;
    yield drafts;
    if (drafts.length < limit) return undefined;
    after = keyOf(last);
  }
}

/** The accounts whose places of drafts are not known, a few at a time. */
async function* unchartedAmong(
  read: LedgerView,
  { accountId, customerId }: Pick<InvoiceFilter, "accountId" | "customerId">,
  now: Instant,
): AsyncGenerator<readonly string[]> {
  let ids: string[] = [];
  for await (const id of accountsUncharted(read, now)) {
    if (accountId !== undefined && id !== accountId) continue;
    if (ids.push(id) < CHUNK) continue;
    yield await ofCustomer(read, ids, customerId);
    ids = [];
  }
  if (ids.length > 0) yield await ofCustomer(read, ids, customerId);
}

async function ofCustomer(
  read: LedgerView,
  ids: readonly string[],
  customerId: string | undefined,
): Promise<readonly string[]> {
  if (customerId === undefined) return ids;
  return (await read.accounts(ids)).filter((record) => record.customerId === customerId).map(({ id }) => id);
}

function keyOf({ listedAt: createdAt, id }: ListedDraft): PageKey {
  return { createdAt, id };
}
