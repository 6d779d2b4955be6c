/**
 * The result of rating a card: one exact charge, its slabs, and the data to recompute it by hand (S7, S13.6).
 *
 * @module
 */
import type { Cycle } from "../calendar/cycle.ts";
import type { Share } from "../calendar/proration.ts";
import type { Decimal } from "../numbers/decimal.ts";
import type { Fraction } from "../numbers/fraction.ts";
import type { RuleNumber } from "../rulebook.ts";

/** The kinds of rate card, in the order of their lines on an invoice. */
export const CARD_KINDS = [
  "USAGE",
  "FIXED_FEE",
  "LICENSE",
  "BILLING_ENTITLEMENT",
  "ENTITLEMENT_OVERAGE",
  "CREDIT_GRANT",
] as const;
/** A kind of rate card. */
export type CardKind = (typeof CARD_KINDS)[number];

/** The two periods of a charge (S6.7): the one that it served, and the proration denominator. Whole UTC days. */
export interface RatedPeriod {
  readonly served: Cycle;
  readonly natural: Cycle;
}

/** How one slab priced its part of a quantity, with all that is needed to do it again (S7.3, S7.4). */
export interface SlabExplanation {
  readonly order: number;
  /** Units; exclusive. */
  readonly startAfter: Decimal;
  /** Units; inclusive. Absent on the last slab. */
  readonly endAt?: Decimal;
  readonly priceType: "FLAT" | "PER_UNIT" | "PACKAGE";
  /** Units that fell in this slab. */
  readonly quantity: Decimal;
  readonly rate: Decimal;
  readonly packageSize?: Decimal;
  /** Packages counted, whole. */
  readonly packages?: Decimal;
  readonly flatRate?: Decimal;
  readonly minimumRate?: Decimal;
  readonly maximumRate?: Decimal;
  /** The slab's exact charge, before any share. */
  readonly amount: Decimal;
}

/** One quantity priced, or one fixed rate taken: `sign × Σ slabs (held to bounds), or rate, × share.days ÷ share.of`. */
export interface PartExplanation {
  /** A sentence: what this part is for. */
  readonly because: string;
  /** −1 where a price already paid is taken off (S10.3). */
  readonly sign: 1 | -1;
  readonly share: Share;
  /** The priced quantity; absent for a fixed rate. */
  readonly quantity?: Decimal;
  readonly pricingModel?: "TIERED" | "VOLUME";
  readonly slabs?: readonly SlabExplanation[];
  /** Card bounds that hold this part's price before its share (S7.4); only where no bounds hold the sum. */
  readonly bounds?: { readonly minimumRate?: Decimal; readonly maximumRate?: Decimal };
  /** The fixed rate; absent where slabs price a quantity. */
  readonly rate?: Decimal;
}

/**
 * Enough to recompute a card's line by hand (S13.6): add the parts, raise to `least` 0 if said, hold to the prorated
 * bounds, round.
 */
export interface ChargeExplanation {
  /** The rules that made it, in the order of their numbers. */
  readonly rules: readonly RuleNumber[];
  readonly parts: readonly PartExplanation[];
  /** The sum of the parts is not taken below this (S10.3). */
  readonly least?: Decimal;
  /**
   * Of an increase of a license: the largest quantity that was charged before. The line's quantity is the largest part's
   * less this; what was charged before may have paid no more than a smaller quantity did, whose price is then taken off
   * (S10.3).
   */
  readonly chargedBefore?: Decimal;
  /** Card bounds (S7.4) and the share of them that counts in a cut cycle. */
  readonly bounds?: { readonly minimumRate?: Decimal; readonly maximumRate?: Decimal; readonly share: Share };
}

/** A refund of charges in advance (S9.5, S10.3): exact, above 0, with its explanation. */
export interface RefundedCharge {
  readonly amount: Fraction;
  readonly explanation: ChargeExplanation;
}

/** The exact part of one slab in a charge. */
export interface SlabCharge {
  readonly order: number;
  /** Units in the slab; of several parts the most that any had there, less those already paid (S10.2, S10.3). */
  readonly quantity: Decimal;
  readonly rate: Decimal;
  readonly amount: Fraction;
}

/** The charge of one card for one period, exact and unrounded. */
export interface Charge {
  readonly kind: CardKind;
  /** The meter's, add-on's or feature's id. */
  readonly billableId: string;
  readonly period: RatedPeriod;
  /** Absent for a fixed fee. */
  readonly quantity?: Decimal;
  /** In slab order; adds up to `charged`. Empty where no slab was reached and for a fixed fee. */
  readonly slabs: readonly SlabCharge[];
  /** The exact charge before card bounds. */
  readonly charged: Fraction;
  /** The exact charge after card bounds; the same as `charged` where they changed nothing (S7.4). */
  readonly bounded: Fraction;
  readonly explanation: ChargeExplanation;
  /** Sentences that the invoice must carry, such as "a negative quantity was priced as zero" (S7.5). */
  readonly notices: readonly string[];
}
