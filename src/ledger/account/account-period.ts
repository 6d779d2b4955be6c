/**
 * Stretches of an account's time, as its events ask for them (S6.5, S11.3).
 *
 * @module
 */
import type { Cycle } from "../../calendar/cycle.ts";
import type { Instant } from "../../calendar/instant.ts";
import type { Decimal } from "../../numbers/decimal.ts";

/** A stretch of an account's time in which one cycle, or no cycle, is in force: `[start, end)`, whole UTC days. */
export interface AccountPeriod {
  /** May be `-Infinity` before the first association. */
  readonly start: Instant;
  /** May be `Infinity` after the last one. */
  readonly end: Instant;
  /**
   * Until when events of this cycle are accepted, exclusive: its end plus the grace period (S6.5). Undefined where no
   * plan is in force: an event there is metered, not priced, and never too late.
   */
  readonly openUntil?: Instant | undefined;
}

/** The overage that the plan in force allows for a feature, over one billing window (S11.3, S11.7). */
export interface OverageLimit {
  readonly window: Cycle;
  /** Absent: no limit. */
  readonly maxQuantity?: Decimal | null | undefined;
}

/** Why a period takes no more changes, whatever is dated in it. */
export type Closed = "PAST_GRACE_PERIOD" | "FINAL_INVOICE";
