/**
 * Invoices as reads show them, and their preview (S13).
 *
 * @module
 */
import type { Steps } from "../../book/steps.ts";
import { formatInstant, type Instant, type InstantInput, toInstant, parseInstant } from "../../calendar/instant.ts";
import { optionError } from "../../errors.ts";
import { type Invoice, INVOICE_TYPES } from "../../invoicing/invoice.ts";
import { billInSteps } from "../../ledger/account/bill-failure.ts";
import { catchUp } from "../../ledger/account/catch-up.ts";
import { listedAt } from "../../ledger/account/draft-index.ts";
import { listDrafts } from "../../ledger/account/drafts.ts";
import { idsNamed, isShortId } from "../../ledger/account/due-ids.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import { compareIds } from "../../ledger/compare-ids.ts";
import type { InvoiceRecord } from "../../ledger/records.ts";
import { invalidInput, notFound } from "../../ledger/refusals.ts";
import type { PageKey } from "../../ledger/view.ts";
import type { AccountWork } from "../../ledger/workspace.ts";
import { collectIds, accountsIn, inChunks, findAccountsInId, accountsWithStaleDrafts } from "../all-accounts.ts";
import type { EngineContext } from "../context.ts";
import { type ProjectedAccounts, projectAccounts } from "../projected-accounts.ts";
import { refreshDraftIndexes } from "./refresh-draft-indexes.ts";
import { collectSkipped, retryPerAccount, type WithoutSkipped } from "./skipped-accounts.ts";

/** An invoice as a read shows it: a draft is computed then, and keeps its id when it is final. */
export interface InvoiceSnapshot {
  readonly id: string;
  readonly invoice: Invoice;
  /** Absent on a draft. */
  readonly finalizedAt?: Instant;
  /** When it was made as it is: when it became final, or now for a draft. */
  readonly updatedAt: Instant;
  /** The group that the account was in when the invoice became final (S16.7). */
  readonly invoiceGroupId?: string;
  /** The composite invoice of the group that shows it, once MERGED. */
  readonly mergedInto?: string;
}

/** Which invoices a list holds; what is absent does not filter. */
export interface InvoiceFilter {
  readonly accountId?: string | undefined;
  readonly customerId?: string | undefined;
  readonly status?: Invoice["status"] | undefined;
  /** Billing periods that touch `[from, until)`. */
  readonly from?: InstantInput | undefined;
  readonly until?: InstantInput | undefined;
}

/** Options of a preview. */
export interface EnginePreviewOptions {
  /** Default: all accounts that are not archived. */
  readonly accountIds?: readonly string[] | undefined;
  /** The instant at which the invoices are shown, if nothing else happens until then; now or later, default now. */
  readonly asOf?: InstantInput | undefined;
  /** Billing periods that touch `[from, until)`; default all. */
  readonly from?: InstantInput | undefined;
  readonly until?: InstantInput | undefined;
}

/** The invoices of a preview, and the accounts that it leaves out. */
export interface EnginePreview extends WithoutSkipped {
  /** By account, each account's by date. */
  readonly invoices: readonly InvoiceSnapshot[];
}

/** Accounts that are read at once. */
const CHUNK = 50;

/**
 * The invoices of accounts as finalizing at an instant would leave them, drafts among them; nothing is changed (S13.5).
 *
 * Of all accounts, those whose bill cannot be made are skipped, as a bill run leaves them.
 *
 * @throws {RatebookError} ERR_ARITHMETIC, which names the account whose bill cannot be made, where accounts are asked for by
 * their ids; ERR_INPUT_INVALID for an `asOf` that has passed
 */
export async function preview(
  context: EngineContext,
  { accountIds, asOf, from, until }: EnginePreviewOptions,
): Promise<EnginePreview> {
  const at = asOf === undefined ? undefined : toInstant(asOf);
  const invoices: InvoiceSnapshot[] = [];
  const skipping = collectSkipped();
  const drawInvoices = (ids: readonly string[]): Promise<readonly InvoiceSnapshot[]> => readInvoices(context, ids, at);
  const { touches } = periodFilter(from, until);
  const accounts =
    accountIds === undefined ? collectIds(accountsIn(context.store.read, { status: "ACTIVE" })) : new Set(accountIds);
  for await (const ids of inChunks(accounts, CHUNK)) {
    const shown = await (accountIds === undefined ? retryPerAccount(ids, skipping, drawInvoices) : drawInvoices(ids));
    invoices.push(...shown.filter(({ invoice }) => touches(invoice)));
  }
  return { invoices, ...skipping.result() };
}

/** An invoice, final or a draft. @throws {RatebookError} ERR_NOT_FOUND */
export async function readInvoice(context: EngineContext, id: string): Promise<InvoiceSnapshot> {
  const stored = await context.store.read.invoice(id);
  if (stored !== undefined) return toFinalSnapshot(stored);
  for await (const { accountId, matches } of accountsThatMayInvoice(context, id)) {
    const named = idsNamed(accountId, id);
    const work = (ids: readonly string[]) => readInvoices(context, ids, undefined, named);
    const [found] = await (matches ? work([accountId]) : retryPerAccount([accountId], collectSkipped(), work));
    if (found !== undefined) return found;
    // It may have become final meanwhile, or have been final all along where a former id was asked for.
    for (const name of named) {
      const final = await context.store.read.invoice(name);
      if (final !== undefined) return toFinalSnapshot(final);
    }
  }
  throw notFound("invoice", id);
}

/** An account that may have an invoice that is asked for. */
interface InvoiceCandidate {
  readonly accountId: string;
  /** Whether the id names the account or the place of one of its drafts; false where these places are not known. */
  readonly matches: boolean;
}

/**
 * The accounts that may have an invoice of an id that is not stored: those that a former id may name, or else the one that
 * has the place of a draft of that id, and those whose places of drafts are not known.
 */
async function* accountsThatMayInvoice(context: EngineContext, id: string): AsyncGenerator<InvoiceCandidate> {
  const { read } = context.store;
  for (const accountId of await findAccountsInId(read, id)) yield { accountId, matches: true };
  if (!isShortId("inv", id)) return;
  await refreshDraftIndexes(context, new Set());
  for (const { accountId } of await read.draftList({ id }, { limit: 1 })) yield { accountId, matches: true };
  for await (const accountId of accountsWithStaleDrafts(read, context.clock())) yield { accountId, matches: false };
}

/**
 * The invoices of accounts, final ones and drafts, each account's by date.
 *
 * @param at default now
 * @param ids which of them: drafts, and what has fallen due and is not stored; default all
 * @param lines when those of drafts are made: at once, in steps, or when they are read first, as in a list, which also bills accounts
 * that are behind
 * @throws {RatebookError} ERR_ARITHMETIC, which names the account whose bill cannot be made
 */
export async function readInvoices(
  context: EngineContext,
  accountIds: readonly string[],
  at: Instant | undefined,
  ids?: ReadonlySet<string>,
  lines: "at once" | "lazily" = "at once",
): Promise<readonly InvoiceSnapshot[]> {
  const show = function* ({ catalog, workspace, now }: ProjectedAccounts): Steps<readonly InvoiceSnapshot[]> {
    if (at !== undefined && at < now) {
      throw invalidInput("asOf", `expected an instant that is now or later, got ${formatInstant(at)}`);
    }
    const all: InvoiceSnapshot[] = [];
    for (const id of accountIds) {
      const shown = yield* billInSteps(id, listSnapshots(catalog, workspace.account(id), at ?? now, ids));
      for (const each of shown) {
        all.push(each);
        if (lines === "at once") yield* makeLines(each);
      }
    }
    return all;
  };
  const invoices = ids === undefined ? "all" : "open";
  const commitIfBehind = lines === "lazily" ? "at all" : "far";
  return projectAccounts(context, accountIds, show, at, { invoices, commitIfBehind });
}

/** Makes the lines of an invoice by reading them. */
function* makeLines({ invoice }: InvoiceSnapshot): Steps {
  yield;
  if (invoice.revenueInfo.lineItems !== undefined) yield;
}

/**
 * The invoices of an account in a working copy that is not committed, which is caught up; by date.
 *
 * @param ids which of them; default all
 */
export function* listSnapshots(
  catalog: Catalog,
  work: AccountWork,
  at: Instant,
  ids?: ReadonlySet<string>,
): Steps<readonly InvoiceSnapshot[]> {
  catchUp(catalog, work, at);
  const final = work.invoices().flatMap((record) => (ids?.has(record.id) === false ? [] : [toFinalSnapshot(record)]));
  const drafts = (yield* listDrafts(catalog, work, at, ids)).map(({ id, invoice }) => ({ id, invoice, updatedAt: at }));
  const dated = [...final, ...drafts].map((snapshot) => ({
    shown: snapshot,
    date: parseInstant(snapshot.invoice.invoiceDate),
  }));
  return dated.sort((a, b) => a.date - b.date || compareInvoiceTypes(a.shown, b.shown)).map(({ shown }) => shown);
}

/** A final invoice as a read shows it. */
export function toFinalSnapshot({
  id,
  invoice,
  finalizedAt,
  invoiceGroupId,
  mergedInto,
}: InvoiceRecord): InvoiceSnapshot {
  return {
    id,
    invoice,
    finalizedAt,
    updatedAt: finalizedAt,
    ...(invoiceGroupId === undefined ? {} : { invoiceGroupId }),
    ...(mergedInto === undefined ? {} : { mergedInto }),
  };
}

/** The order in which invoices of one date take credits (S12.3). */
function compareInvoiceTypes(a: InvoiceSnapshot, b: InvoiceSnapshot): number {
  return (
    INVOICE_TYPES.indexOf(a.invoice.invoiceType) - INVOICE_TYPES.indexOf(b.invoice.invoiceType) ||
    a.updatedAt - b.updatedAt ||
    compareIds(a.id, b.id)
  );
}

/** A draft is listed at the start of its cycle or, without one, at its date; it keeps its place when it is final. */
export function invoiceKey({ id, invoice }: InvoiceSnapshot): PageKey {
  return { createdAt: listedAt(invoice), id };
}

/** A range of time, and whether the billing period of an invoice touches it. */
export interface PeriodFilter {
  /** Absent where all is asked for. */
  readonly period?: { readonly from: Instant; readonly until: Instant };
  readonly touches: (invoice: Pick<Invoice, "startDate" | "endDate">) => boolean;
}

/** The filter of `[from, until)`. @throws {RatebookError} ERR_OPTION_INVALID, ERR_DATE_INVALID */
export function periodFilter(from: InstantInput | undefined, until: InstantInput | undefined): PeriodFilter {
  const start = from === undefined ? Number.NEGATIVE_INFINITY : toInstant(from);
  const end = until === undefined ? Number.POSITIVE_INFINITY : toInstant(until);
  if (start >= end) {
    throw optionError("until", "expected an instant after the start of the range");
  }
  const isAll = from === undefined && until === undefined;
  return {
    ...(isAll ? {} : { period: { from: start, until: end } }),
    // An account may have thousands of invoices, and to read their dates takes longer than all else.
    touches: ({ startDate, endDate }) => isAll || (parseInstant(startDate) < end && parseInstant(endDate) > start),
  };
}
