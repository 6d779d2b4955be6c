/** Which cycles of an account still accept changes (S6.5). */
import type { PricePlan } from "../../book/resources/price-plan.ts";
import {
  INSTANT_END,
  INSTANT_MIN,
  type Instant,
  instantOfDay,
  startOfUtcDay,
  parseInstant,
} from "../../calendar/instant.ts";
import { cardCount } from "../../invoicing/charge-periods.ts";
import { earliestChargeStart } from "../../invoicing/due-work.ts";
import { type ClosedCycles, closesAt, earliestOpenEnd, type AccountCycle, cyclesIn } from "../../invoicing/timeline.ts";
import type { Catalog, AccountPeriod } from "../catalog.ts";
import type { AccountRecord, InvoiceRecord } from "../records.ts";
import { catchUpInstant, findGraceTerms, findAccountPlan, type ClosedReason } from "./account-plan.ts";

/** An account with the final invoices of its open cycles. */
interface AccountWithInvoices {
  readonly record: AccountRecord;
  invoices(): readonly InvoiceRecord[];
}

/**
 * Why a period accepts no events, undo or moves of overage; undefined while it is open. A period without a plan never
 * closes.
 *
 * @param now the clock; if it was set back, periods closed by the last catch-up stay closed
 */
export function findClosedReason(
  account: AccountWithInvoices,
  period: AccountPeriod,
  at: Instant,
  now: Instant,
): ClosedReason | undefined {
  if (period.openUntil === undefined) return undefined;
  const latest = Math.max(now, account.record.caughtUpTo);
  if (latest >= period.openUntil) return "PAST_GRACE_PERIOD";
  // No invoice of a cycle is final before the cycle has ended.
  return latest >= period.end && isInvoiced(account.invoices(), at) ? "FINAL_INVOICE" : undefined;
}

/** Creates a predicate that returns whether data dated at an instant may still change. */
export function createOpenCheck(
  catalog: Catalog,
  account: AccountWithInvoices,
  now: Instant,
): (at: Instant) => boolean {
  const { lookup } = findAccountPlan(catalog, account.record);
  return (at) => findClosedReason(account, lookup.periodAt(at), at, now) === undefined;
}

/** A half-open range of time. */
export interface TimeRange {
  readonly from: Instant;
  readonly until: Instant;
}

/** All ranges in which dated data may still change, in order: open cycles, and the time between and around cycles. */
export function findOpenRanges(
  catalog: Catalog,
  record: AccountRecord,
  invoices: readonly InvoiceRecord[],
  now: Instant,
): readonly TimeRange[] {
  const latest = Math.max(now, record.caughtUpTo);
  const terms = findGraceTerms(catalog, record);
  const { timeline } = findAccountPlan(catalog, record);
  const open: TimeRange[] = [];
  let from = INSTANT_MIN;
  // A cycle that has not begun is open, as is all time after it.
  for (const cycle of cyclesIn(timeline, Number.NEGATIVE_INFINITY, latest)) {
    if (latest < closesAt(cycle, terms) && !isInvoiced(invoices, cycle.start)) continue;
    if (from < cycle.start) open.push({ from, until: cycle.start });
    from = cycle.end;
  }
  return [...open, { from, until: INSTANT_END }];
}

/**
 * The cycles of an account that are closed, up to the first open one; undefined if none is.
 *
 * @param now the clock; if it was set back, cycles closed by a later time stay closed
 */
export function findClosedCycles(catalog: Catalog, record: AccountRecord, now: Instant): ClosedCycles | undefined {
  const at = Math.max(now, record.caughtUpTo);
  const terms = findGraceTerms(catalog, record);
  const { timeline } = findAccountPlan(catalog, record);
  let until = record.closedCycles?.until;
  for (const cycle of cyclesIn(timeline, until ?? Number.NEGATIVE_INFINITY, at)) {
    if (at < closesAt(cycle, terms)) break;
    until = cycle.end;
  }
  return until === undefined ? undefined : { until, at };
}

/**
 * The end of the last closed cycle of an account, or of those under a version of a plan; `-Infinity` without one at or
 * after `since`. Its invoice is final once the account is caught up.
 */
export function findClosedEnd(
  catalog: Catalog,
  record: AccountRecord,
  { since, now }: { readonly since: Instant; readonly now: Instant },
  ofPlan?: Pick<PricePlan, "id" | "version">,
): Instant {
  const at = Math.max(now, record.caughtUpTo);
  const terms = findGraceTerms(catalog, record);
  const cycles = cyclesIn(findAccountPlan(catalog, record).timeline, since, at);
  const isOfPlan = ({ term: { plan } }: AccountCycle): boolean =>
    ofPlan === undefined || (plan.planId === ofPlan.id && plan.version === ofPlan.version);
  const last = cycles.findLast((cycle) => isOfPlan(cycle) && closesAt(cycle, terms) <= at);
  return last?.end ?? Number.NEGATIVE_INFINITY;
}

/** Until when levels that are carried over cannot change: up to the end of the last cycle that is closed or invoiced (S6.5). */
export function findLevelsEnd(catalog: Catalog, account: AccountWithInvoices, now: Instant): Instant {
  const { record } = account;
  const since = record.carriedUsage === undefined ? Number.NEGATIVE_INFINITY : instantOfDay(record.carriedUsage.until);
  return Math.max(since, lastInvoicedEnd(account), findClosedEnd(catalog, record, { since, now }));
}

/**
 * The cycles that have begun by an instant and may still get a STANDARD invoice: those that were open at the last
 * catch-up. A decision of that day may have split and closed one.
 */
export function findOpenCycles(
  catalog: Catalog,
  record: AccountRecord,
  until: Instant,
  closedSince: Instant = startOfUtcDay(record.caughtUpTo),
): readonly AccountCycle[] {
  const { decisions, timeline } = findAccountPlan(catalog, record);
  const terms = findGraceTerms(catalog, record);
  const [first] = timeline;
  if (first === undefined) return [];
  // Includes a cycle that ends exactly there. If the clock is behind, all of them begin before it and end later.
  const from = Math.max(first.from, Math.min(until, earliestOpenEnd(decisions, terms, closedSince) - 1));
  return cyclesIn(timeline, from, until + 1).filter((cycle) => closesAt(cycle, terms) >= closedSince);
}

/** Maximum number of cards in open cycles that one decision processes without pausing. */
const OPEN_CARDS_MAX = 5_000;
const OPEN_CYCLES_MAX = 64;

/** Whether an account has so many open cycles at an instant that its invoices and draft index are computed in steps only. */
export function hasManyOpenCycles(catalog: Catalog, record: AccountRecord, at: Instant): boolean {
  const open = findOpenCycles(catalog, record, at);
  if (open.length > OPEN_CYCLES_MAX) return true;
  let cards = 0;
  for (const { term } of open) cards += cardCount(term.plan.details);
  return cards > OPEN_CARDS_MAX;
}

/** The start of the first of these cycles, or `otherwise` if that is earlier. */
export function earliestStart(open: readonly AccountCycle[], otherwise: Instant): Instant {
  return Math.min(otherwise, ...open.map(({ start }) => start));
}

/** Whether a final STANDARD invoice covers an instant: its cycle accepts no event, undo or license update (S6.5). */
function isInvoiced(invoices: readonly InvoiceRecord[], at: Instant): boolean {
  return standardCycles(invoices).some(({ start, end }) => start <= at && at < end);
}

/** The end of the last cycle that has a final STANDARD invoice or stays closed; earlier days cannot change (S16.1). */
export function lastInvoicedEnd(work: AccountWithInvoices): Instant {
  const closedUntil = work.record.closedCycles?.until ?? Number.NEGATIVE_INFINITY;
  return Math.max(closedUntil, ...standardCycles(work.invoices()).map(({ end }) => end));
}

/** The cycles with a final STANDARD invoice. */
export function standardCycles(invoices: readonly InvoiceRecord[]): readonly { start: Instant; end: Instant }[] {
  return invoices
    .filter(({ invoice }) => invoice.invoiceType === "STANDARD")
    .map(({ invoice }) => ({ start: parseInstant(invoice.startDate), end: parseInstant(invoice.endDate) }));
}

/**
 * The first listing instant of the final invoices read by catch-up, drafts and decisions on open cycles. No earlier
 * invoice belongs to a cycle that is open or that a decision of today can change.
 */
export function invoicesReadFrom(catalog: Catalog, record: AccountRecord, now: Instant): Instant {
  const open = findOpenCycles(catalog, record, catchUpInstant(record, now));
  const first = earliestStart(open, Math.min(record.caughtUpTo, now));
  return earliestChargeStart(findAccountPlan(catalog, record).decisions, startOfUtcDay(first));
}
