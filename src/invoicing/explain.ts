/**
 * Explanations: for each line, as data, enough to recompute its value by hand (S13.6).
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

/** How one line's value was made; `rules` in each says where the rules stand that made it. */
export type Explanation =
  | CardExplanation
  /** `floor(exact)` to the minor unit, plus `missing` units that make the slabs add up to the card (S1.5). */
  | {
      readonly of: "SLAB";
      readonly rules: readonly RuleLink[];
      readonly exact: Fraction;
      readonly digits: number;
      readonly missing: number;
    }
  /** The rounded bound less the rounded charge (S7.4). */
  | { readonly of: "BOUNDS"; readonly rules: readonly RuleLink[]; readonly bounded: Decimal; readonly charged: Decimal }
  /** The sum of the lines right below it. */
  | { readonly of: "SUM"; readonly rules: readonly RuleLink[] }
  | TrueUpExplanation
  | CreditExplanation;

/** The explanation of a charge, its rules as links. */
export interface CitedExplanation extends Omit<ChargeExplanation, "rules"> {
  readonly rules: readonly RuleLink[];
}

/** A card: its parts, its bounds, and how the sum was rounded. */
export interface CardExplanation extends CitedExplanation {
  readonly of: "CARD";
  /** The period served, and the natural one, the proration denominator; the billing period is the invoice's (S6.7). */
  readonly served: Period;
  readonly natural: Period;
  readonly exact: Fraction;
  readonly rounding: Rounding;
}

/** A true-up: the commitment's part, less the sub-totals of the invoices for the cycle, plus the refunds of them (S13.3). */
export interface TrueUpExplanation extends CitedExplanation {
  readonly of: "TRUE_UP";
  /** The invoice's cycle, and the proration denominator. */
  readonly served: Period;
  readonly natural: Period;
  /** The shortfall before rounding. */
  readonly exact: Fraction;
  readonly invoiced: readonly { readonly invoiceType: string; readonly invoiceDate: string; readonly value: Decimal }[];
  /** What was given back of these invoices; absent where nothing was. */
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
   * The amount that other invoices took of the credit before this one, which is this invoice's place among them: before a final
   * invoice those that were final by then; before a draft all final ones and the drafts that precede it (S12.3).
   */
  readonly takenBefore: Decimal;
  /** The amount that earlier drafts held when this invoice became final before them (S12.4). Absent: none. */
  readonly heldByDrafts?: Decimal;
  /** The remaining credit before this invoice: `creditAmount` less `takenBefore` and `heldByDrafts`. */
  readonly left: Decimal;
  readonly paid: readonly { readonly type: string; readonly id?: string; readonly amount: Decimal }[];
  /** The remaining credit after this invoice. */
  readonly remaining: Decimal;
  /** How the amount of the credit was made, where it gives back what was charged in advance. */
  readonly refund?: RefundExplanation;
}

/** A refund: the sum of its parts, rounded once, is the amount of the credit (S9.5, S10.3). */
export interface RefundExplanation extends CitedExplanation {
  /** The period whose days the shares count. */
  readonly natural: Period;
  readonly exact: Fraction;
  readonly rounding: Rounding;
}

/** A refund that a true-up counts. */
export interface CountedRefund extends RefundExplanation {
  /** From when the credit may be spent. */
  readonly effectiveFrom: string;
  /** The amount of the credit. */
  readonly value: Decimal;
}

/** The explanation of a sum. */
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

/** An explanation of rating, as a reader gets it. */
export function citeRules(explanation: ChargeExplanation): CitedExplanation {
  return { ...explanation, rules: explanation.rules.map(ruleLink) };
}

/** A fraction as data; zero stands over 1, whatever was divided. */
export function toExactFraction({ numerator, denominator }: Fraction): Fraction {
  return { numerator, denominator: numerator.isZero() ? 1 : denominator };
}

/** A cycle as ISO texts. */
export function toIsoPeriod({ start, end }: Cycle): Period {
  return { from: formatInstant(start), until: formatInstant(end) };
}
