/**
 * Which of an account's cycles still take changes (S6.5).
 *
 * @module
 */
import { INSTANT_END, INSTANT_MIN, type Instant, dayStart } from "../../calendar/instant.ts";
import { type ClosedCycles, closesAt, earliestOpenEnd } from "../../invoicing/grace-period.ts";
import { cardCount } from "../../invoicing/plan-cards.ts";
import { type AccountCycle, cyclesIn, buildTimeline } from "../../invoicing/timeline.ts";
import type { Catalog } from "../catalog.ts";
import type { AccountRecord, InvoiceRecord } from "../records.ts";
import type { AccountWork } from "../workspace.ts";
import { findGraceTerms, findAccountPlan } from "./account-plan.ts";
import { isInvoiced } from "./invoices.ts";
import type { AccountPeriod, Closed } from "./plans-at-event.ts";

/**
 * Why events of a period, their undo and the moves of their overage are refused; undefined while the period is open. A
 * stretch without a plan never closes.
 *
 * @param now the clock; if it was put back, what was caught up with before stays closed
 */
export function findClosedReason(
  account: Pick<AccountWork, "record" | "invoices">,
  period: AccountPeriod,
  at: Instant,
  now: Instant,
): Closed | undefined {
  if (period.openUntil === undefined) return undefined;
  const latest = Math.max(now, account.record.caughtUpTo);
  if (latest >= period.openUntil) return "PAST_GRACE_PERIOD";
  // No invoice of a cycle is final before the cycle has ended.
  return latest >= period.end && isInvoiced(account.invoices(), at) ? "FINAL_INVOICE" : undefined;
}

/** Makes the test whether what is dated at an instant may still change. */
export function createOpenCheck(catalog: Catalog, account: AccountWork, now: Instant): (at: Instant) => boolean {
  const { clock } = findAccountPlan(catalog, account.record);
  return (at) => findClosedReason(account, clock.periodAt(at), at, now) === undefined;
}

/** A stretch of time, half open. */
export interface Stretch {
  readonly from: Instant;
  readonly until: Instant;
}

/** All time in which what is dated may still change: open cycles and what lies between and around cycles, in order. */
export function findOpenStretches(
  catalog: Catalog,
  record: AccountRecord,
  invoices: readonly InvoiceRecord[],
  now: Instant,
): readonly Stretch[] {
  const latest = Math.max(now, record.caughtUpTo);
  const terms = findGraceTerms(catalog, record);
  const timeline = buildTimeline(findAccountPlan(catalog, record).decisions);
  const open: Stretch[] = [];
  let from = INSTANT_MIN;
  // A cycle that has not begun is open, and so is all time after it.
  for (const cycle of cyclesIn(timeline, Number.NEGATIVE_INFINITY, latest)) {
    if (latest < closesAt(cycle, terms) && !isInvoiced(invoices, cycle.start)) continue;
    if (from < cycle.start) open.push({ from, until: cycle.start });
    from = cycle.end;
  }
  return [...open, { from, until: INSTANT_END }];
}

/**
 * The cycles of an account that are closed, up to the first one that is open; undefined where none is.
 *
 * @param now the clock; where it was put back, what was closed by a later time stays closed
 */
export function findClosedCycles(catalog: Catalog, record: AccountRecord, now: Instant): ClosedCycles | undefined {
  const at = Math.max(now, record.caughtUpTo);
  const terms = findGraceTerms(catalog, record);
  const timeline = buildTimeline(findAccountPlan(catalog, record).decisions);
  let until = record.closedCycles?.until;
  for (const cycle of cyclesIn(timeline, until ?? Number.NEGATIVE_INFINITY, at)) {
    if (at < closesAt(cycle, terms)) break;
    until = cycle.end;
  }
  return until === undefined ? undefined : { until, at };
}

/**
 * The cycles that have begun by an instant and may still get a STANDARD invoice: those that had not closed when the
 * account was caught up with last. A decision of that day may have cut one and closed it.
 */
export function findOpenCycles(
  catalog: Catalog,
  record: AccountRecord,
  until: Instant,
  closedSince: Instant = dayStart(record.caughtUpTo),
): readonly AccountCycle[] {
  const { decisions } = findAccountPlan(catalog, record);
  const timeline = buildTimeline(decisions);
  const terms = findGraceTerms(catalog, record);
  const [first] = timeline;
  if (first === undefined) return [];
  // A cycle that ends just there is one of them; by a clock that is behind, all of them begin before it and end later.
  const from = Math.max(first.from, Math.min(until, earliestOpenEnd(decisions, terms, closedSince) - 1));
  return cyclesIn(timeline, from, until + 1).filter((cycle) => closesAt(cycle, terms) >= closedSince);
}

/** More cards of open cycles than one decision looks at while others wait, and more open cycles than an account has that is looked after. */
const OPEN_CARDS_MAX = 5_000;
const OPEN_CYCLES_MAX = 64;

/** Whether so much of an account is open at an instant that all its invoices, or their places, are made in steps only. */
export function isLongOpen(catalog: Catalog, record: AccountRecord, at: Instant): boolean {
  const open = findOpenCycles(catalog, record, at);
  if (open.length > OPEN_CYCLES_MAX) return true;
  let cards = 0;
  for (const { term } of open) cards += cardCount(term.plan.details);
  return cards > OPEN_CARDS_MAX;
}

/** The start of the first of these cycles, or an instant before it. */
export function earliestStart(open: readonly AccountCycle[], otherwise: Instant): Instant {
  return Math.min(otherwise, ...open.map(({ start }) => start));
}
