/**
 * Lists of invoices over all accounts: final ones as they are stored, and the drafts that may stand on the page (S13.4).
 *
 * @module
 */
import { isBehind } from "../../ledger/account/catch-up.ts";
import type { LedgerView, PageKey } from "../../ledger/view.ts";
import { compareNewest } from "../../store/order.ts";
import { accountIdsWhere } from "../account-lists.ts";
import type { EngineContext } from "../context.ts";
import { collectPage, type CollectedPage, type Page, type PageOptions } from "../pages.ts";
import { draftPlaces } from "./draft-places.ts";
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

/** Whether one of these may stand on the page: not all of them are on pages before it, or on later ones. */
function mayStandOn(
  page: CollectedPage<InvoiceShown>,
  after: PageKey | undefined,
  places: readonly PageKey[],
): boolean {
  return places.some((place) => !page.isBeyond(place) && (after === undefined || compareNewest(place, after) > 0));
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
