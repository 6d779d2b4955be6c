/**
 * Until when a cycle is open: it takes events, and its STANDARD invoice is a draft (S6.5, S13.4).
 *
 * @module
 */
import { DAY_MS, dayStart, type Instant } from "../calendar/instant.ts";
import type { AccountCycle, PlanDecision } from "./timeline.ts";

/** The grace of an account's cycles, apart from its plan's. */
export interface GraceTerms {
  /** Whole days; wins over the plan's grace where an invoice group sets it (S16.7). */
  readonly groupGraceDays?: number | undefined;
  /** Whole days, default 1: the least grace of a cycle that had ended when its association was made (S6.5). */
  readonly graceAfterAssociationDays?: number | undefined;
  /** Cycles that take no changes any more, whatever grace they would have by now. */
  readonly closedCycles?: ClosedCycles | undefined;
  /** When the account came to this grace with its group: a cycle that was open then closes no earlier (S16.7). */
  readonly graceSince?: Instant | undefined;
}

/** Cycles that were found to be closed, and stay so: all that end by an instant. */
export interface ClosedCycles {
  /** The end of the last one of them. */
  readonly until: Instant;
  /** When they were found to be closed. */
  readonly at: Instant;
}

/**
 * When a cycle closes: its end plus the grace, exclusive. For a cycle that had ended when its association was made the
 * grace counts from that moment and is at least one day, so that history can be loaded. A grace that became longer since
 * opens none again (S6.5), and one that became shorter closes none before it did (S16.7).
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
  // A book may be loaded long after it was decided, or before.
  const made = Math.max(decidedAt, recordedAt);
  // A decision that cuts a cycle on its last day finds it open.
  const cutAt = cycle.end < cycle.natural.end && cycle.end === until ? endDecidedAt : cycle.end;
  if (cycle.end > made) return Math.max(cycle.end + days * DAY_MS, cutAt);
  return made + Math.max(days, terms.graceAfterAssociationDays ?? 1) * DAY_MS;
}

/** Cycles that end before this instant close before `closedSince`. @param decisions those that the cycles are of */
export function earliestOpenEnd(
  decisions: readonly PlanDecision[],
  { groupGraceDays, graceAfterAssociationDays = 1, graceSince, closedCycles }: GraceTerms,
  closedSince: Instant,
): Instant {
  // What the account's former grace held open may have ended long before.
  if (graceSince !== undefined && graceSince >= closedSince) {
    return Math.min(closedSince, closedCycles?.until ?? Number.NEGATIVE_INFINITY);
  }
  let first = closedSince;
  for (const { from, decidedAt, recordedAt = decidedAt, plan } of decisions) {
    if (plan === null) continue;
    const days = groupGraceDays ?? plan.gracePeriodDays;
    const made = Math.max(decidedAt, recordedAt);
    const isHistoryOpen = made + Math.max(days, graceAfterAssociationDays) * DAY_MS >= closedSince;
    first = Math.min(first, dayStart(closedSince) - days * DAY_MS, isHistoryOpen ? from : first);
  }
  return first;
}
