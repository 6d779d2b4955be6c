/** Decides about one account at a time without a store: the changes of a decision are kept for the next one. */
import type { Book } from "../../src/book/resources/book.ts";
import { dayOf, type Instant, toInstant } from "../../src/calendar/instant.ts";
import type { Invoice, InvoiceLine } from "../../src/invoicing/invoice.ts";
import { NO_END } from "../../src/invoicing/timeline.ts";
import { type AccountState, createWorkspace } from "../../src/ledger/account-state.ts";
import { catchUp } from "../../src/ledger/account/catch-up.ts";
import { listingInstant } from "../../src/ledger/account/invoices.ts";
import { createOpenCheck } from "../../src/ledger/account/open-cycles.ts";
import { storedInvoiceKey } from "../../src/ledger/account/record-ids.ts";
import { type CatalogOptions, createCatalog, type Catalog } from "../../src/ledger/catalog.ts";
import {
  associate,
  type AssociateRequest,
  dissociate,
  type DissociateRequest,
} from "../../src/ledger/commands/associate.ts";
import type { Changes, IdSource } from "../../src/ledger/decision.ts";
import type { AccountRecord } from "../../src/ledger/records.ts";
import type { AccountParts } from "../../src/ledger/working-records.ts";
import { parseDecimal, formatDecimal } from "../../src/numbers/decimal.ts";
import { exactOfDecimal } from "../../src/numbers/exact.ts";
import { applyChanges, emptyState } from "../../src/store/memory/state.ts";

/** The start of all clocks in these tests. */
export const START = "2024-01-01";

/** An instant from a date, a date-time or a number. */
export const toTime = (text: string | Instant): Instant => toInstant(text);

/** The parts of a plan decision besides the plan and its first day. */
export type AssociateOptions = Omit<AssociateRequest, "planId" | "from" | "until"> & { readonly until?: string };
type DissociateOptions = Omit<DissociateRequest, "from" | "until"> & { readonly until?: string };

/** Accounts in memory. */
export interface Ledger {
  readonly catalog: Catalog;
  readonly ids: IdSource;
  /** Decides about one account; if the decision throws, nothing changes. */
  run<Result>(decision: (work: AccountState) => Result, id?: string): Result;
  /** Decides about several accounts. */
  runAll<Result>(ids: readonly string[], decision: (works: readonly AccountState[]) => Result): Result;
  /** Associates a plan with an account, known from `now` on, by default from its first day. */
  associate(planId: string, from: string | Instant, now?: string | Instant, more?: AssociateOptions, id?: string): void;
  /** Removes an account's plans from a date on. */
  dissociate(from: string, now: string, more?: DissociateOptions): AccountRecord["associations"][number] | undefined;
  /** Processes everything due for an account. */
  until(now: string | Instant, id?: string): void;
  /** Adds usage of the calls meter at an instant, if its cycle is open then; due work is processed first. */
  use(quantity: number, timestamp: string | Instant, now?: string | Instant, id?: string): boolean;
  parts(id?: string): AccountParts;
  /** The account's data that a decision reads. */
  readParts(id?: string): AccountParts;
  /** Stores the changes of a decision. */
  apply(changes: Changes): void;
}

/** A new account without a plan. */
export function newAccount(id: string, more: Partial<AccountRecord> = {}): AccountParts {
  const record: AccountRecord = {
    id,
    name: id,
    customerId: "ann",
    status: "ACTIVE",
    invoiceCurrency: "USD",
    aliases: [],
    associations: [],
    licenseUpdates: [],
    caughtUpTo: toTime(START),
    nextDueAt: NO_END,
    createdAt: toTime(START),
    updatedAt: toTime(START),
    ...more,
  };
  return { record, entries: [], credits: [], invoices: [], usage: [], overage: [], events: [] };
}

/**
 * Opens a ledger with one account `a`, or with these.
 *
 * @param shownSince decisions read invoices from here on; by default all
 */
export function openLedger(
  book: Book,
  accounts = [newAccount("a")],
  options: CatalogOptions = {},
  shownSince: (catalog: Catalog, record: AccountRecord) => Instant = () => Number.NEGATIVE_INFINITY,
): Ledger {
  const catalog = createCatalog(book, options);
  const state = emptyState();
  for (const { record, entries, credits } of accounts) applyChanges(state, { accounts: [record], entries, credits });
  let idCount = 0;
  const partsOf = (id: string): AccountParts => {
    const record = state.accounts.get(id);
    if (record === undefined) throw new Error(`no account ${id}`);
    // In the order in which they were written.
    const ofAccount = <Item extends { readonly accountId: string }>(items: Iterable<Item>): readonly Item[] =>
      [...items].filter(({ accountId }) => accountId === id);
    return {
      record,
      entries: ofAccount(state.entries.all()),
      credits: ofAccount(state.credits.all()),
      invoices: ofAccount(state.invoices.all()),
      events: ofAccount(state.events.all()),
      usage: state.usage.between([id], -Infinity, Infinity),
      overage: state.overage.between([id], -Infinity, Infinity),
    };
  };
  const ledger: Ledger = {
    catalog,
    ids: (prefix) => `${prefix}.${++idCount}`,
    run: (decision, id = "a") => ledger.runAll([id], ([work]) => decision(work as AccountState)),
    runAll(ids, decision) {
      const workspace = createWorkspace(
        catalog,
        ids.map((id) => ledger.readParts(id)),
      );
      const result = decision(ids.map((id) => workspace.account(id)));
      ledger.apply(workspace.changes());
      return result;
    },
    apply: (changes) => applyChanges(state, changes),
    associate(planId, from, now = from, { until, ...more } = {}, id = "a") {
      const request = { planId, from: toTime(from), ...(until !== undefined && { until: toTime(until) }), ...more };
      ledger.run((work) => associate(catalog, work, request, toTime(now), ledger.ids), id);
    },
    dissociate(from, now, { until, ...more } = {}) {
      const request = { from: toTime(from), ...(until !== undefined && { until: toTime(until) }), ...more };
      return ledger.run((work) => dissociate(catalog, work, request, toTime(now), ledger.ids));
    },
    until: (now, id) => ledger.run((work) => catchUp(catalog, work, toTime(now)), id),
    use: (quantity, timestamp, now = timestamp, id = "a") =>
      ledger.run((work) => {
        catchUp(catalog, work, toTime(now));
        if (!createOpenCheck(catalog, work, toTime(now))(toTime(timestamp))) return false;
        work.addUsage("um.calls", dayOf(toTime(timestamp)), exactOfDecimal(parseDecimal(quantity)));
        return true;
      }, id),
    parts: (id = "a") => partsOf(id),
    readParts(id = "a") {
      const whole = partsOf(id);
      const since = shownSince(catalog, whole.record);
      return { ...whole, invoices: whole.invoices.filter(({ invoice }) => listingInstant(invoice) >= since) };
    },
  };
  return ledger;
}

/** An invoice in one line: type, period, date, status and total. */
export function headOf(invoice: Invoice): string {
  const { invoiceType, startDate, endDate, invoiceDate, status, revenueInfo } = invoice;
  const [start, end, date] = [startDate, endDate, invoiceDate].map((text) => text.slice(0, 10));
  return `${invoiceType} ${start}..${end} of ${date} ${status} ${formatDecimal(revenueInfo.value)}`;
}

/** The lines of an invoice that are not sums: type, id and value. */
export function listCardLines({ revenueInfo }: Invoice): readonly string[] {
  const leaves = (line: InvoiceLine): readonly string[] => {
    const isCard = line.type.endsWith("_RATE_CARD_AMOUNT") || (line.lineItems ?? []).length === 0;
    if (isCard) return [`${line.type} ${line.id ?? ""} ${formatDecimal(line.value)}`];
    return (line.lineItems ?? []).flatMap(leaves);
  };
  return leaves(revenueInfo);
}

/** The final invoices of an account, ordered by when they became final, then by what they are for. */
export function finals(ledger: Ledger, id?: string): readonly string[] {
  return ledger
    .parts(id)
    .invoices.toSorted((a, b) => a.finalizedAt - b.finalizedAt || (storedInvoiceKey(a) < storedInvoiceKey(b) ? -1 : 1))
    .map(({ invoice }) => headOf(invoice));
}
