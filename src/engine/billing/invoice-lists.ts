/**
 * Lists of invoices over all accounts: final ones as they are stored, and the drafts that may stand on the page (S13.4).
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import { isBehind, openCycles } from "../../ledger/account/catch-up.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import { compareIds } from "../../ledger/order.ts";
import type { AccountRecord } from "../../ledger/records.ts";
import type { LedgerView, PageKey } from "../../ledger/view.ts";
import { accountIdsWhere } from "../account-lists.ts";
import type { EngineContext } from "../context.ts";
import { collectPage, type CollectedPage, type Page, type PageOptions } from "../pages.ts";
import { finalShown, type InvoiceFilter, invoiceKey, type InvoiceShown, invoicesOf, periodFilter } from "./invoices.ts";
import { collectSkipped, eachAlone, type WithoutSkipped } from "./skipped-accounts.ts";

/** Accounts that are read at once. */
const CHUNK = 50;

/**
 * A page of invoices, final ones and the drafts of every begun cycle, by the start of their cycle, newest first.
 *
 * Drafts are computed, which costs far more than to read what is final: only those accounts are computed that are behind,
 * or of which a draft may stand on the page. One whose bill cannot be made is skipped: its final invoices are there all the
 * same. Asked for alone, it is refused.
 */
export async function listInvoices(
  context: EngineContext,
  filter: InvoiceFilter,
  options: PageOptions,
): Promise<Page<InvoiceShown> & WithoutSkipped> {
  const { accountId, customerId, status, from, until } = filter;
  const { read } = context.store;
  const touches = periodFilter(from, until);
  const found = collectPage(options, invoiceKey);
  const skipping = collectSkipped();
  const computed = async (ids: readonly string[]): Promise<readonly InvoiceShown[]> =>
    accountId === undefined
      ? eachAlone(ids, skipping, (some) => invoicesOf(context, some, undefined))
      : invoicesOf(context, ids, undefined);
  const offer = (shown: InvoiceShown): void => {
    const { invoice } = shown;
    if (customerId !== undefined && invoice.customerId !== customerId) return;
    if ((status === undefined || invoice.status === status) && touches(invoice)) found.offer(shown);
  };
  const isAsked = status === undefined || status === "DRAFT";
  for await (const ids of chunksOf(read, { accountId, customerId })) {
    const records = await read.accounts(ids);
    // Read after the accounts: it knows every plan that they have.
    const { catalog } = await context.configuration(read);
    const now = context.clock();
    if (status !== "DRAFT") for (const record of await read.invoices(ids)) offer(finalShown(record));
    const behind = records.filter(
      (record) =>
        isBehind(record, now) || (isAsked && mayStandOn(found, options.after, draftPlaces(catalog, record, now))),
    );
    // An invoice that was read as final, or becomes so meanwhile, has the same place twice, which counts once.
    if (behind.length > 0) for (const each of await computed(behind.map(({ id }) => id))) offer(each);
  }
  return { ...found.page(), ...skipping.found() };
}

/** Where the drafts of an account stand: in an open cycle each, with an id that begins so. */
interface DraftPlaces {
  readonly starts: readonly Instant[];
  readonly idPrefix: string;
}

/** The places of an account that is not behind: AD_HOC invoices, dated within a cycle, are final then. */
function draftPlaces(catalog: Catalog, record: AccountRecord, now: Instant): DraftPlaces {
  return { starts: openCycles(catalog, record, now).map(({ start }) => start), idPrefix: `inv|${record.id}|` };
}

/** Whether one of these may stand on the page: not all of them are on pages before it, or on later ones. */
function mayStandOn(
  page: CollectedPage<InvoiceShown>,
  after: PageKey | undefined,
  { starts, idPrefix }: DraftPlaces,
): boolean {
  return starts.some((start) => {
    if (page.isBeyond({ createdAt: start, id: idPrefix })) return false;
    if (after === undefined || start < after.createdAt) return true;
    const isSpread = after.id.startsWith(idPrefix);
    return start === after.createdAt && (isSpread || compareIds(idPrefix, after.id) > 0);
  });
}

/** The ids of accounts, a few at a time; all of them by id, as drafts of one day stand in the list. */
async function* chunksOf(
  read: LedgerView,
  { accountId, customerId }: Pick<InvoiceFilter, "accountId" | "customerId">,
): AsyncGenerator<readonly string[]> {
  if (accountId !== undefined) yield [accountId];
  else if (customerId === undefined) {
    for (let after: string | undefined; ;) {
      const ids = await read.accountsBehind(Number.POSITIVE_INFINITY, CHUNK, after);
      after = ids.at(-1);
      if (after === undefined) return;
      yield ids;
    }
  } else {
    const ids = await accountIdsWhere(read, () => true, { customerId });
    for (let start = 0; start < ids.length; start += CHUNK) yield ids.slice(start, start + CHUNK);
  }
}
