/**
 * Explanations as data: for each line, enough to recompute its value manually (S13.6).
 *
 * @module
 */
import type { Cycle } from "../calendar/cycle.ts";
import { formatInstant } from "../calendar/instant.ts";
import type { Decimal } from "../numbers/decimal.ts";
import type { Fraction } from "../numbers/fraction.ts";
import type { Charge, ChargeExplanation } from "../rating/charge.ts";
import type { Rounding } from "../rating/commitment.ts";
import { type RuleLink, ruleLink } from "../rulebook.ts";

/** A half-open period as ISO texts. */
export interface Period {
  readonly from: string;
  readonly until: string;
}

/** How a line's value was computed; `rules` links to the rules applied. */
export type Explanation =
  | CardExplanation
  /** `floor(exact)` to the minor unit, plus `missing` units so that the slabs add up to the card (S1.5). */
  | {
      readonly of: "SLAB";
      readonly rules: readonly RuleLink[];
      readonly exact: Fraction;
      readonly digits: number;
      readonly missing: number;
    }
  /** The rounded charge after card limits minus that before (S7.4). */
  | { readonly of: "BOUNDS"; readonly rules: readonly RuleLink[]; readonly bounded: Decimal; readonly charged: Decimal }
  /** The sum of the lines directly below. */
  | { readonly of: "SUM"; readonly rules: readonly RuleLink[] }
  | TrueUpExplanation
  | CreditExplanation;

/** The explanation of a charge, with links to its rules. */
export interface CitedExplanation extends Omit<ChargeExplanation, "rules"> {
  readonly rules: readonly RuleLink[];
}

/** A card: its parts, its limits, and the rounding of the sum. */
export interface CardExplanation extends CitedExplanation {
  readonly of: "CARD";
  /** The served period and the natural one, the denominator of proration; the billing period is the invoice's (S6.7). */
  readonly served: Period;
  readonly natural: Period;
  readonly exact: Fraction;
  readonly rounding: Rounding;
}

/** A true-up: the commitment, minus the sub-totals of the invoices for the cycle, plus their refunds (S13.3). */
export interface TrueUpExplanation extends CitedExplanation {
  readonly of: "TRUE_UP";
  /** The invoice's cycle, and the denominator of proration. */
  readonly served: Period;
  readonly natural: Period;
  /** The shortfall before rounding. */
  readonly exact: Fraction;
  readonly invoiced: readonly { readonly invoiceType: string; readonly invoiceDate: string; readonly value: Decimal }[];
  /** The refunds of these invoices, if any. */
  readonly refunds?: readonly CountedRefund[];
  readonly rounding: Rounding;
}

/** The payments of a credit, line by line (S12.3). */
export interface CreditExplanation {
  readonly of: "CREDIT";
  readonly rules: readonly RuleLink[];
  readonly priority: number;
  readonly creditAmount: Decimal;
  /**
   * The amount that other invoices took from the credit before this one: before a final invoice, those that were final
   * by then; before a draft, all final ones and the drafts that precede it (S12.3).
   */
  readonly takenBefore: Decimal;
  /** The amount reserved by earlier drafts when this invoice became final before them (S12.4). Absent: none. */
  readonly heldByDrafts?: Decimal;
  /** The balance before this invoice: `creditAmount` minus `takenBefore` and `heldByDrafts`. */
  readonly left: Decimal;
  readonly paid: readonly { readonly type: string; readonly id?: string; readonly amount: Decimal }[];
  /** The balance after this invoice. */
  readonly remaining: Decimal;
  /** How the amount of a refund credit was computed. */
  readonly refund?: RefundExplanation;
}

/** A refund: the sum of its parts, rounded once, is the amount of the credit (S9.5, S10.3). */
export interface RefundExplanation extends CitedExplanation {
  /** The period of the shares. */
  readonly natural: Period;
  readonly exact: Fraction;
  readonly rounding: Rounding;
}

/** A refund counted by a true-up. */
export interface CountedRefund extends RefundExplanation {
  /** From when the credit can be spent. */
  readonly effectiveFrom: string;
  /** The amount of the credit. */
  readonly value: Decimal;
}

export const SUM: Explanation = { of: "SUM", rules: [ruleLink("S1.5"), ruleLink("S13.2")] };

/** Explains a card's line. */
export function explainCard(charge: Charge, rounding: Rounding): CardExplanation {
  return {
    of: "CARD",
    ...citeRules(charge.explanation),
    served: toIsoPeriod(charge.period.served),
    natural: toIsoPeriod(charge.period.natural),
    exact: toExactFraction(charge.bounded),
    rounding,
  };
}

/** Converts an explanation of rating for readers. */
export function citeRules(explanation: ChargeExplanation): CitedExplanation {
  return { ...explanation, rules: explanation.rules.map(ruleLink) };
}

/** A fraction as data; zero has the denominator 1. */
export function toExactFraction({ numerator, denominator }: Fraction): Fraction {
  return { numerator, denominator: numerator.isZero() ? 1 : denominator };
}

/** A cycle as ISO texts. */
export function toIsoPeriod({ start, end }: Cycle): Period {
  return { from: formatInstant(start), until: formatInstant(end) };
}
