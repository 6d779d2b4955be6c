/**
 * Advance charges, and the end of a charged service if it comes earlier than expected (S9.5, S13.1).
 *
 * @module
 */
import type { Cycle } from "../calendar/cycle.ts";
import { formatInstant, type Instant } from "../calendar/instant.ts";
import type { Fraction } from "../numbers/fraction.ts";
import type { CardKind, Charge, ChargeExplanation } from "../rating/charge.ts";
import type { DueCycle } from "./due-work.ts";
import type { AccountCycle, PlanDecision } from "./timeline.ts";

/** Charges due at one instant, for one cycle as known then. */
export interface AdvanceCharge {
  readonly invoiceType: "STANDARD_ADVANCED" | "AD_HOC";
  readonly invoiceDate: Instant;
  /** When it is known to be due; later than its date if it was decided later. */
  readonly due: Instant;
  readonly cycle: AccountCycle;
  /** Computes the charge, because only a few of the known ones are shown; undefined if it is nothing. */
  readonly rate: () => Charge | undefined;
}

/** A refund of unserved days: becomes a credit for any line, with priority 0 and no expiry (S9.5). */
export interface Refund {
  readonly key: string;
  readonly kind: CardKind;
  readonly billableId: string;
  /** The cycle of the refunded charge, as known when that was made. */
  readonly cycle: AccountCycle;
  /** From when it can be spent. */
  readonly at: Instant;
  /** When it is known; at `at` or later. */
  readonly due: Instant;
  /** The natural period of the shares. */
  readonly natural: Cycle;
  readonly amount: Fraction;
  readonly explanation: ChargeExplanation;
}

/**
 * Identifies a refund: what was charged, when that was due, from when it is refunded and when that is known. Plan
 * versions that share a cycle each charge their own days of it under one key, and each may be cut short (S9.5).
 */
export function refundKey(
  chargeKey: string,
  { due }: DueCycle,
  refund: { readonly at: Instant; readonly due: Instant },
): string {
  return [chargeKey, ...[due, refund.at, refund.due].map(formatInstant)].join("|");
}

/** The advance charges of an account, and the refunds. */
export interface AdvanceBilling {
  readonly charges: readonly AdvanceCharge[];
  readonly refunds: readonly Refund[];
}

/**
 * The new end of a period that was charged in advance: the start of the first part of it that a decision made after
 * `knownAt` removes; undefined if it is served completely (S9.5).
 */
export function findCut(
  decisions: readonly PlanDecision[],
  period: { readonly start: Instant; readonly end: Instant },
  knownAt: Instant,
): { readonly at: Instant; readonly decidedAt: Instant } | undefined {
  let cut: { at: Instant; decidedAt: Instant } | undefined;
  for (const { from, until, decidedAt } of decisions) {
    if (decidedAt <= knownAt || from >= period.end || until <= period.start) continue;
    const at = Math.max(from, period.start);
    if (cut === undefined || at < cut.at) cut = { at, decidedAt };
  }
  return cut;
}

/** A charge on the invoice dated at the start of a cycle. */
export function chargeAtCycleStart({ cycle, due }: DueCycle, rate: () => Charge | undefined): AdvanceCharge {
  return { invoiceType: "STANDARD_ADVANCED", invoiceDate: cycle.start, due, cycle, rate };
}
