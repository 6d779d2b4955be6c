/**
 * How long a cycle is open: it accepts events, and its STANDARD invoice is a draft (S6.5, S13.4).
 *
 * @module
 */
import { dayStart, type Instant, addDays } from "../calendar/instant.ts";
import type { AccountCycle, PlanDecision } from "./timeline.ts";

/** The grace period settings of an account's cycles that do not come from its plan. */
export interface GraceTerms {
  /** Whole days; an invoice group's setting takes precedence over the plan's (S16.7). */
  readonly groupGraceDays?: number | undefined;
  /** Whole days, default 1: the minimum grace period of a cycle that had ended when its association was created (S6.5). */
  readonly graceAfterAssociationDays?: number | undefined;
  /** Cycles that accept no more changes, whatever their current grace period. */
  readonly closedCycles?: ClosedCycles | undefined;
  /** When the account got this grace period with its group: a cycle that was open then closes no earlier (S16.7). */
  readonly graceSince?: Instant | undefined;
}

/** Cycles that were closed, and stay so: all that end by an instant. */
export interface ClosedCycles {
  /** The end of the last one. */
  readonly until: Instant;
  /** When they were recorded as closed. */
  readonly at: Instant;
}

/**
 * When a cycle closes: its end plus the grace period, exclusive. For a cycle that had ended when its association was
 * created, the grace period counts from that moment and is at least one day, so that history can be loaded. A later
 * extension reopens no cycle (S6.5), and a later reduction closes none retroactively (S16.7).
 */
export function closesAt(cycle: AccountCycle, terms: GraceTerms): Instant {
  const { closedCycles, graceSince = Number.NEGATIVE_INFINITY } = terms;
  const at = graceEnd(cycle, terms);
  const wasClosed = closedCycles !== undefined && cycle.end <= closedCycles.until;
  return wasClosed ? Math.min(at, closedCycles.at) : Math.max(at, graceSince);
}

function graceEnd(cycle: AccountCycle, terms: GraceTerms): Instant {
  const days = terms.groupGraceDays ?? cycle.term.plan.gracePeriodDays;
  const { decidedAt, recordedAt = decidedAt, until, endDecidedAt } = cycle.term;
  // A book may be loaded long before or after its decisions.
  const recordedFrom = Math.max(decidedAt, recordedAt);
  // A decision that splits a cycle on its last day finds it open.
  const cutAt = cycle.end < cycle.natural.end && cycle.end === until ? endDecidedAt : cycle.end;
  if (cycle.end > recordedFrom) return Math.max(addDays(cycle.end, days), cutAt);
  return addDays(recordedFrom, Math.max(days, terms.graceAfterAssociationDays ?? 1));
}

/** Cycles that end before this instant close before `closedSince`. @param decisions those of the cycles */
export function earliestOpenEnd(
  decisions: readonly PlanDecision[],
  { groupGraceDays, graceAfterAssociationDays = 1, graceSince, closedCycles }: GraceTerms,
  closedSince: Instant,
): Instant {
  // Cycles kept open by the account's former grace period may have ended long before.
  if (graceSince !== undefined && graceSince >= closedSince) {
    return Math.min(closedSince, closedCycles?.until ?? Number.NEGATIVE_INFINITY);
  }
  let first = closedSince;
  for (const { from, decidedAt, recordedAt = decidedAt, plan } of decisions) {
    if (plan === null) continue;
    const days = groupGraceDays ?? plan.gracePeriodDays;
    const recordedFrom = Math.max(decidedAt, recordedAt);
    const isHistoryOpen = addDays(recordedFrom, Math.max(days, graceAfterAssociationDays)) >= closedSince;
    first = Math.min(first, addDays(dayStart(closedSince), -days), isHistoryOpen ? from : first);
  }
  return first;
}
