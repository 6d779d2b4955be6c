/**
 * Which of an account's cycles still take changes (S6.5).
 *
 * @module
 */
import { INSTANT_END, INSTANT_MIN, type Instant } from "../../calendar/instant.ts";
import { closesAt } from "../../invoicing/grace.ts";
import { cyclesIn, timelineOf } from "../../invoicing/timeline.ts";
import type { Catalog } from "../catalog.ts";
import type { AccountRecord, InvoiceRecord } from "../records.ts";
import type { AccountWork } from "../workspace.ts";
import type { AccountPeriod, Closed } from "./account-period.ts";
import { graceTermsOf, planOf } from "./account-plan.ts";
import { isInvoiced } from "./invoices.ts";

/**
 * Why events of a period, their undo and the moves of their overage are refused; undefined while the period is open. A
 * stretch without a plan never closes.
 *
 * @param now the clock; where it was put back, what was done by a later time stays done
 */
export function closedAt(
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

/** Tells of instants whether what is dated there may still change. */
export function openIn(catalog: Catalog, account: AccountWork, now: Instant): (at: Instant) => boolean {
  const { clock } = planOf(catalog, account.record);
  return (at) => closedAt(account, clock.periodAt(at), at, now) === undefined;
}

/** A stretch of time, half open. */
export interface Stretch {
  readonly from: Instant;
  readonly until: Instant;
}

/** All time in which what is dated may still change: open cycles and what lies between and around cycles, in order. */
export function openStretches(
  catalog: Catalog,
  record: AccountRecord,
  invoices: readonly InvoiceRecord[],
  now: Instant,
): readonly Stretch[] {
  const latest = Math.max(now, record.caughtUpTo);
  const terms = graceTermsOf(catalog, record);
  const timeline = timelineOf(planOf(catalog, record).decisions);
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
