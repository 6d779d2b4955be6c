/**
 * Until when a cycle is open: it takes events, and its STANDARD invoice is a draft (S6.5, S13.4).
 *
 * @module
 */
import { DAY_MS, type Instant } from "../calendar/instant.ts";
import type { AccountCycle } from "./timeline.ts";

/** What beside the plan sets the grace of an account's cycles. */
export interface GraceTerms {
  /** Whole days; wins over the plan's grace where an invoice group sets it (S16.7). */
  readonly groupGraceDays?: number | undefined;
  /** Whole days, default 1: the least grace of a cycle that had ended when its association was made (S6.5). */
  readonly graceAfterAssociationDays?: number | undefined;
}

/**
 * When a cycle closes: its end plus the grace, exclusive. For a cycle that had ended when its association was made the
 * grace counts from that moment and is at least one day, so that history can be loaded (S6.5).
 */
export function closesAt(cycle: AccountCycle, terms: GraceTerms): Instant {
  const days = terms.groupGraceDays ?? cycle.term.plan.gracePeriodDays;
  const { decidedAt, recordedAt = decidedAt } = cycle.term;
  // A book may be loaded long after it was decided, or before.
  const made = Math.max(decidedAt, recordedAt);
  if (cycle.end > made) return cycle.end + days * DAY_MS;
  return made + Math.max(days, terms.graceAfterAssociationDays ?? 1) * DAY_MS;
}
