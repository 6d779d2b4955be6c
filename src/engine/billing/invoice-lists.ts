/** Lists invoices of all accounts: final ones from the store, and the drafts that may be on the page (S13.4). */
import * as z from "zod";

import type { Instant } from "../../calendar/instant.ts";
import { EVENT_LINE_TYPES } from "../../ledger/preview/line-trace.ts";
import type { DraftListFilter, InvoiceListFilter } from "../../ledger/view.ts";
import type { WithSkipped } from "../all-accounts.ts";
import { type ComputedList, listComputed } from "../computed-lists.ts";
import { type EngineContext, ID, idMethod, listMethod, method, PAGED, textFields } from "../methods.ts";
import type { Page, PageOptions } from "../pages.ts";
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

/**
 * A page of invoices, final ones and the drafts of every cycle that has begun, by the start of their cycle, newest
 * first. A read that finds missing indexes or due invoices stores them. Accounts whose bill cannot be computed are
 * skipped, except for their final invoices; if such an account is requested alone, the list is rejected.
 */
export async function listInvoices(
  context: EngineContext,
  filter: InvoiceFilter,
  options: PageOptions,
): Promise<Page<InvoiceSnapshot> & WithSkipped> {
  const { storedFilter, isRequested } = parseFilter(filter);
  const now = context.clock();
  const draftsFilter = draftFilter(storedFilter, now);
  const list: ComputedList<InvoiceSnapshot> = {
    now,
    accounts: filter,
    keyOf: invoiceKey,
    isRequested,
    async readPositions(view, page) {
      const drafts = draftsFilter === undefined ? [] : await view.draftList(draftsFilter, page);
      const positions = drafts.map(({ id, accountId, listedAt: createdAt }) => ({ id, accountId, createdAt }));
      return { positions, otherAccountIds: [] };
    },
    positionsMax: Number.POSITIVE_INFINITY,
    readStored: async (view, page) =>
      filter.status === "DRAFT" ? [] : (await view.invoiceList(storedFilter, page)).map(toFinalSnapshot),
    compute: (accountIds, ids) => readInvoices(context, accountIds, { ids, lines: "lazily" }),
    computesAll: false,
  };
  return listComputed(context, list, options);
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
