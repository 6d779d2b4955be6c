/** Invoice groups: they set terms for their accounts and consolidate their invoices by day (S16.7). */
import {
  type Day,
  dayOf,
  formatInstant,
  type Instant,
  parseInstant,
  instantOfDay,
  addDays,
} from "../../calendar/instant.ts";
import type { InvoiceLine } from "../../invoicing/invoice.ts";
import { NO_END } from "../../invoicing/timeline.ts";
import { type Decimal, parseDecimal, sum, formatDecimal } from "../../numbers/decimal.ts";
import { compareIds } from "../../numbers/ids.ts";
import type { Steps } from "../../numbers/steps.ts";
import { quoteText } from "../../problem-table.ts";
import type { AccountState } from "../account-state.ts";
import { withGroup } from "../account/account-plan.ts";
import { catchUp, catchUpWith } from "../account/catch-up.ts";
import { findClosedCycles } from "../account/open-cycles.ts";
import { dueInvoiceId } from "../account/record-ids.ts";
import { type Catalog, groupTermsFor } from "../catalog.ts";
import type { DocumentRecord } from "../decision.ts";
import type { InvoiceRecord } from "../records.ts";
import { refusedError, requireActive } from "../refusals.ts";

/** The terms of a group that apply to its accounts. */
export interface InvoiceGroupTerms {
  readonly id: string;
  readonly invoiceCurrency: string;
  readonly dailyInvoiceConsolidation: boolean;
}

/** The catalog before and after a change of groups; the same one if no group was created or removed. */
export interface CatalogChange {
  readonly before: Catalog;
  readonly after: Catalog;
}

/** The invoices of several accounts for one day, consolidated. */
export interface CompositeInvoice {
  readonly id: string;
  readonly invoiceGroupId: string;
  readonly currency: string;
  /** The day on which its invoices became DUE. */
  readonly invoiceDate: Instant;
  readonly dueDate: Instant;
  /** The GRAND_TOTAL_AMOUNT line, with a TOTAL_AMOUNT line for each invoice, whose id is the line's id. */
  readonly total: Decimal;
  readonly invoices: readonly { readonly invoiceId: string; readonly accountId: string; readonly total: Decimal }[];
}

/**
 * Adds accounts to a group, one per step; the group's terms apply from now on. Accounts already in it are skipped.
 *
 * @param accounts with everything that {@link catchUp} needs
 * @throws {RatebookError} ERR_INPUT_INVALID, ERR_REFUSED for another currency, another group or an archived account
 */
export function* addToGroup(
  catalogs: CatalogChange,
  group: InvoiceGroupTerms,
  accounts: readonly AccountState[],
  now: Instant,
): Steps {
  for (const { record } of accounts) {
    const { id, invoiceGroupId, invoiceCurrency } = record;
    requireActive(record);
    if (invoiceGroupId !== undefined && invoiceGroupId !== group.id) {
      throw refusedError(
        "S16.7",
        `the account ${quoteText(id)} is already in the invoice group ${quoteText(invoiceGroupId)}`,
      );
    }
    if (invoiceCurrency !== group.invoiceCurrency) {
      const sentence = `the account ${quoteText(id)} is invoiced in ${invoiceCurrency}`;
      throw refusedError(
        "S16.7",
        `${sentence}, but the invoice group ${quoteText(group.id)} is in ${group.invoiceCurrency}`,
      );
    }
  }
  for (const account of accounts) {
    if (account.record.invoiceGroupId === undefined) changeGroup(catalogs, account, group.id, now);
    yield;
  }
}

/**
 * Removes accounts from a group, one per step; accounts not in it are skipped. Their invoices of today leave the group
 * with them.
 */
export function* removeFromGroup(
  catalogs: CatalogChange,
  groupId: string,
  accounts: readonly AccountState[],
  now: Instant,
): Steps {
  for (const account of accounts) {
    if (account.record.invoiceGroupId === groupId) changeGroup(catalogs, account, undefined, now);
    yield;
  }
}

/** The invoices of a group's accounts that became DUE on one day, by account. */
export type DueOnDay = readonly { readonly account: AccountState; readonly record: InvoiceRecord }[];

/**
 * The invoices of a group for each past day that are on no composite invoice yet, one account per step. A day needs all
 * accounts: if one cannot be caught up, only the days before its `caughtUpTo` are returned.
 *
 * @param accounts all of the group's, each with everything that {@link catchUp} needs
 * @param skippedIds accounts that cannot be caught up
 */
export function* findDueByDay(
  catalog: Catalog,
  group: InvoiceGroupTerms,
  accounts: readonly AccountState[],
  now: Instant,
  skippedIds: ReadonlySet<string> = new Set(),
): Steps<ReadonlyMap<Day, DueOnDay>> {
  for (const account of accounts) {
    if (!skippedIds.has(account.record.id)) catchUp(catalog, account, now);
    yield;
  }
  const skippedAccounts = accounts.filter(({ record }) => skippedIds.has(record.id));
  const today = dayOf(Math.min(now, ...skippedAccounts.map(({ record }) => record.caughtUpTo)));
  const byDay = new Map<Day, DueOnDay>();
  if (!group.dailyInvoiceConsolidation) return byDay;
  for (const account of accounts) {
    for (const record of account.invoices()) {
      const day = dayOf(record.finalizedAt);
      const isUnmerged = record.invoiceGroupId === group.id && record.mergedInto === undefined && day < today;
      if (isUnmerged && record.invoice.status === "DUE")
        byDay.set(day, [...(byDay.get(day) ?? []), { account, record }]);
    }
  }
  return byDay;
}

/**
 * Creates one composite invoice for each day (S16.7).
 *
 * @param days without a composite invoice: issued ones never change
 * @returns the documents of the composite invoices
 */
export function consolidate(
  catalog: Catalog,
  group: InvoiceGroupTerms,
  days: ReadonlyMap<Day, DueOnDay>,
): readonly DocumentRecord[] {
  return [...days]
    .sort(([a], [b]) => a - b)
    .map(([day, invoices]) => {
      const composite = createComposite(
        catalog,
        group,
        day,
        invoices.map(({ record }) => record),
      );
      for (const { account, record } of invoices) {
        account.putInvoice({ ...record, invoice: { ...record.invoice, status: "MERGED" }, mergedInto: composite.id });
      }
      return toDocument(composite);
    });
}

/** The id of the composite invoice of a group and day. */
export function compositeInvoiceId(groupId: string, day: Day): string {
  return dueInvoiceId(groupId, `COMPOSITE|${formatInstant(instantOfDay(day))}`);
}

/** Reads a composite invoice from its document. */
export function readComposite({ body }: DocumentRecord): CompositeInvoice {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written only by toDocument
  const composite = body as unknown as StoredComposite;
  return {
    ...composite,
    invoiceDate: parseInstant(composite.invoiceDate),
    dueDate: parseInstant(composite.dueDate),
    total: parseDecimal(composite.total),
    invoices: composite.invoices.map((each) => ({ ...each, total: parseDecimal(each.total) })),
  };
}

/** The lines of a composite invoice as a tree (S16.7). */
export function compositeLines({ total, invoices }: CompositeInvoice): Omit<InvoiceLine, "type"> & {
  readonly type: "GRAND_TOTAL_AMOUNT";
} {
  return {
    type: "GRAND_TOTAL_AMOUNT",
    value: total,
    lineItems: invoices.map((each) => ({
      type: "TOTAL_AMOUNT",
      id: each.invoiceId,
      description: each.accountId,
      value: each.total,
    })),
  };
}

/** Instants and decimals as texts. */
interface StoredComposite extends Omit<CompositeInvoice, "invoiceDate" | "dueDate" | "total" | "invoices"> {
  readonly invoiceDate: string;
  readonly dueDate: string;
  readonly total: string;
  readonly invoices: readonly { readonly invoiceId: string; readonly accountId: string; readonly total: string }[];
}

/**
 * First processes everything due with the old terms, then the cycles that the new terms close; closed cycles stay closed
 * (S6.5). Today's invoices belong to the group that the account is in at the end of the day (S16.7): for now,
 * the new one.
 */
function changeGroup(
  { before, after }: CatalogChange,
  account: AccountState,
  groupId: string | undefined,
  now: Instant,
): void {
  catchUp(before, account, now);
  for (const { invoiceGroupId: _, ...record } of account.invoices()) {
    if (dayOf(record.finalizedAt) < dayOf(now) || record.mergedInto !== undefined) continue;
    account.putInvoice(groupId === undefined ? record : { ...record, invoiceGroupId: groupId });
  }
  const closedCycles = findClosedCycles(before, account.record, now);
  const record = { ...withGroup(account.record, groupId, now), updatedAt: now };
  account.putRecord(closedCycles === undefined ? record : { ...record, closedCycles });
  catchUpWith(after, account, Math.max(now, account.record.caughtUpTo), now);
}

function createComposite(
  catalog: Catalog,
  group: InvoiceGroupTerms,
  day: Day,
  records: readonly InvoiceRecord[],
): CompositeInvoice {
  const invoiceDate = instantOfDay(day);
  const { groupNetTermDays = 0 } = groupTermsFor(catalog, { invoiceGroupId: group.id });
  const invoices = records
    .map(({ id, accountId, invoice }) => ({ invoiceId: id, accountId, total: invoice.revenueInfo.value }))
    .sort((a, b) => compareIds(a.accountId, b.accountId) || compareIds(a.invoiceId, b.invoiceId));
  return {
    id: compositeInvoiceId(group.id, day),
    invoiceGroupId: group.id,
    currency: group.invoiceCurrency,
    invoiceDate,
    // As for a single invoice, at most NO_END.
    dueDate: Math.max(invoiceDate, Math.min(addDays(invoiceDate, groupNetTermDays), NO_END)),
    total: sum(invoices.map(({ total }) => total)),
    invoices,
  };
}

/** Dated at the end of its day, whenever it is created. */
function toDocument(composite: CompositeInvoice): DocumentRecord {
  const body: StoredComposite = {
    ...composite,
    invoiceDate: formatInstant(composite.invoiceDate),
    dueDate: formatInstant(composite.dueDate),
    total: formatDecimal(composite.total),
    invoices: composite.invoices.map((each) => ({ ...each, total: formatDecimal(each.total) })),
  };
  const at = addDays(composite.invoiceDate, 1);
  return { kind: "compositeInvoice", id: composite.id, createdAt: at, updatedAt: at, body: { ...body } };
}
