/**
 * A charge in advance, and the end of the service that it paid for where that comes sooner than was known (S9.5, S13.1).
 *
 * @module
 */
import type { Cycle } from "../calendar/cycle.ts";
import { formatInstant, type Instant } from "../calendar/instant.ts";
import type { Fraction } from "../numbers/fraction.ts";
import type { CardKind, Charge, ChargeExplanation } from "../rating/charge.ts";
import type { DueCycle } from "./due-work.ts";
import type { AccountCycle, PlanDecision } from "./timeline.ts";

/** Charges that fall due at one instant, of one cycle as it was known then. */
export interface AdvanceCharge {
  readonly invoiceType: "STANDARD_ADVANCED" | "AD_HOC";
  readonly invoiceDate: Instant;
  /** When it was known that it falls due: later than its date where it was decided later. */
  readonly due: Instant;
  readonly cycle: AccountCycle;
  /** Rates it, for only a few of those that are known are shown; undefined where it is nothing. */
  readonly rate: () => Charge | undefined;
}

/** A refund of unserved days: becomes a credit for any line, of priority 0, without expiry (S9.5). */
export interface Refund {
  readonly key: string;
  readonly kind: CardKind;
  readonly billableId: string;
  /** The cycle whose charge it gives back, as known when that was made. */
  readonly cycle: AccountCycle;
  /** From when it may be spent. */
  readonly at: Instant;
  /** When it is known; at `at` or later. */
  readonly due: Instant;
  /** The natural period whose days the shares count. */
  readonly natural: Cycle;
  readonly amount: Fraction;
  readonly explanation: ChargeExplanation;
}

/**
 * Names a refund for good: what was charged, when that fell due, from when it is given back and when that is known. The
 * versions of a plan that share a cycle each charge their own days of it under one name, and each may be cut (S9.5).
 */
export function refundKey(
  chargeKey: string,
  { due }: DueCycle,
  refund: { readonly at: Instant; readonly due: Instant },
): string {
  return [chargeKey, ...[due, refund.at, refund.due].map(formatInstant)].join("|");
}

/** The charges in advance of an account, and the refunds. */
export interface AdvanceBilling {
  readonly charges: readonly AdvanceCharge[];
  readonly refunds: readonly Refund[];
}

/**
 * When a period that was charged in advance ends after all: the start of the first part of it that a decision made
 * after `known` takes away; undefined where it is served whole (S9.5).
 */
export function findCut(
  decisions: readonly PlanDecision[],
  period: { readonly start: Instant; readonly end: Instant },
  known: Instant,
): { readonly at: Instant; readonly decidedAt: Instant } | undefined {
  let cut: { at: Instant; decidedAt: Instant } | undefined;
  for (const { from, until, decidedAt } of decisions) {
    if (decidedAt <= known || from >= period.end || until <= period.start) continue;
    const at = Math.max(from, period.start);
    if (cut === undefined || at < cut.at) cut = { at, decidedAt };
  }
  return cut;
}

/** A charge on the invoice dated at the start of a cycle. */
export function chargeAtCycleStart({ cycle, due }: DueCycle, rate: () => Charge | undefined): AdvanceCharge {
  return { invoiceType: "STANDARD_ADVANCED", invoiceDate: cycle.start, due, cycle, rate };
}
