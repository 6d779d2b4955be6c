/** The result of rating a card: an exact charge, its slabs, and the data to recompute it manually (S7, S13.6). */
import type { RateAllowance } from "../book/resources/rate-table.ts";
import type { Cycle, Share } from "../calendar/cycle.ts";
import { Decimal, add, subtract, sum, ZERO } from "../numbers/decimal.ts";
import {
  type Fraction,
  compareFractions,
  floorFraction,
  roundFraction,
  type RoundingMode,
  subtractFractions,
  toFraction,
} from "../numbers/fraction.ts";
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

/** The two periods of a charge (S6.7): the served period, and the natural one, the denominator of proration. Whole UTC days. */
export interface RatedPeriod {
  readonly served: Cycle;
  readonly natural: Cycle;
}

/** How one slab priced its part of a quantity, complete enough to recompute it (S7.3, S7.4). */
export interface SlabExplanation {
  readonly order: number;
  /** Units; exclusive. */
  readonly startAfter: Decimal;
  /** Units; inclusive. Absent on the last slab. */
  readonly endAt?: Decimal;
  readonly priceType: "FLAT" | "PER_UNIT" | "PACKAGE";
  /** Units in this slab. */
  readonly quantity: Decimal;
  readonly rate: Decimal;
  readonly packageSize?: Decimal;
  /** The number of packages. */
  readonly packages?: Decimal;
  readonly flatRate?: Decimal;
  readonly minimumRate?: Decimal;
  readonly maximumRate?: Decimal;
  /** The slab's exact charge, before proration. */
  readonly amount: Decimal;
}

/** What a part with a row of a price table prices (S18). */
export interface RowExplanation {
  /** As in the table: the texts of the groups for which the row holds. */
  readonly when: Readonly<Record<string, string>>;
  /** The groups with usage, by the texts of the meter's dimensions. */
  readonly groups: readonly (readonly string[])[];
  /** The days of the price, `2026-01-31`. */
  readonly startDate: string;
  /** Exclusive. */
  readonly endDate: string;
  /** The running quantity before these days, less allowance: the tiers continue from there (S18.4). */
  readonly before: Decimal;
}

/** Units of a row of a price table. */
export interface RowUnits {
  readonly when: Readonly<Record<string, string>>;
  readonly quantity: Decimal;
}

/** One priced quantity or fixed rate: `sign × (Σ slabs, within bounds, or rate) × share.days ÷ share.of`. */
export interface PartExplanation {
  /** The reason for this part, such as `usage in the billing period`. */
  readonly because: string;
  /** −1 if a price already charged is subtracted (S10.3). */
  readonly sign: 1 | -1;
  readonly share: Share;
  /** The priced quantity; absent for a fixed rate. */
  readonly quantity?: Decimal;
  readonly pricingModel?: "TIERED" | "VOLUME";
  readonly slabs?: readonly SlabExplanation[];
  /** Card limits of this part's price before its share (S7.4); only if the sum has no limits. */
  readonly bounds?: { readonly minimumRate?: Decimal; readonly maximumRate?: Decimal };
  /** The fixed rate; absent if slabs price a quantity. */
  readonly rate?: Decimal;
  /** Only for a card with a price table. */
  readonly row?: RowExplanation;
}

/**
 * Enough to recompute a card's line manually (S13.6): add the parts, raise to `least` if present, apply the prorated
 * bounds, round.
 */
export interface ChargeExplanation {
  /** The rules applied, ascending. */
  readonly rules: readonly RuleNumber[];
  readonly parts: readonly PartExplanation[];
  /** With a price table: what decided a quantity that is no sum (S19). */
  readonly because?: string;
  /** The units that the allowance of a price table made free, by row (S18.5). */
  readonly free?: readonly RowUnits[];
  /** The allowance of a whole cycle, and its share in a partial one; only if units were free. */
  readonly allowance?: RateAllowance & { readonly share: Share };
  /** The units of rows below zero that are neither charged nor free (S18.4). */
  readonly belowZero?: readonly RowUnits[];
  /** The minimum of the sum of the parts (S10.3). */
  readonly least?: Decimal;
  /**
   * For a license increase: the largest quantity charged before. The line's quantity is the largest part's minus this.
   * The price subtracted may be that of a smaller quantity, if no more was paid (S10.3).
   */
  readonly chargedBefore?: Decimal;
  /** Card limits (S7.4) and their share in a partial cycle. */
  readonly bounds?: { readonly minimumRate?: Decimal; readonly maximumRate?: Decimal; readonly share: Share };
}

/** A refund of advance charges (S9.5, S10.3): exact, above 0, with its explanation. */
export interface RefundedCharge {
  readonly amount: Fraction;
  readonly explanation: ChargeExplanation;
}

/** How a quantity that is no sum is priced (S19). */
export interface QuantityTerms {
  /** Whether the price is prorated by days, because the quantity is a level (S19.4); default false. */
  readonly isProrated?: boolean;
  /** What decided the quantity, for the explanation. */
  readonly describe?: () => string;
}

/** The exact part of one slab in a charge. */
export interface SlabCharge {
  readonly order: number;
  /** Units in the slab; of several parts the maximum, minus those already paid (S10.2, S10.3). */
  readonly quantity: Decimal;
  readonly rate: Decimal;
  readonly amount: Fraction;
  /** Only for a card with a price table: what the slab is of. */
  readonly usage?: PricedUsage;
}

/** The usage of one row of a price table on days with one price (S18.6). */
export interface PricedUsage {
  /** The texts that the row names; of a group that counts by itself, those of all dimensions. */
  readonly group: Readonly<Record<string, string>>;
  /** `2026-01-31`. */
  readonly startDate: string;
  /** Exclusive. */
  readonly endDate: string;
}

/** Usage that no row of a price table prices (S18.2). */
export interface UnpricedUsage {
  readonly meterId: string;
  readonly group: Readonly<Record<string, string>>;
  readonly quantity: Decimal;
}

/** The charge of one card for one period, exact and unrounded. */
export interface Charge {
  readonly kind: CardKind;
  /** The meter's, add-on's or feature's id. */
  readonly billableId: string;
  readonly period: RatedPeriod;
  /** Absent for a fixed fee. */
  readonly quantity?: Decimal;
  /** In slab order; adds up to `charged`. Empty if no slab was reached, and for a fixed fee. */
  readonly slabs: readonly SlabCharge[];
  /** The exact charge before card limits. */
  readonly charged: Fraction;
  /** The exact charge after card limits; equal to `charged` if they had no effect (S7.4). */
  readonly bounded: Fraction;
  readonly explanation: ChargeExplanation;
  /** Sentences that the invoice must include, such as "a negative quantity was priced as zero" (S7.5). */
  readonly notices: readonly string[];
  /** Only for a card with a price table, if there is any. */
  readonly unpriced?: readonly UnpricedUsage[];
}

/** The rounded values of a card's lines, in major units, each a whole number of minor units. */
export interface CardValues {
  /** The card's line: its bounded charge, rounded once. */
  readonly value: Decimal;
  /** One per slab of the charge, in order; they add up to `value − adjustment`. Computed on first use. */
  readonly slabs: readonly Decimal[];
  /** The rounded charge after card limits minus that before; 0 if they had no effect. */
  readonly adjustment: Decimal;
}

/**
 * Rounds a charge once, and distributes the result to its slabs: each is truncated to the minor unit, and the missing
 * units go to the largest remainders, lowest order first (S1.5).
 *
 * @param digits of the currency's minor unit
 */
export function roundLines(
  charge: Pick<Charge, "charged" | "bounded" | "slabs">,
  digits: number,
  mode: RoundingMode,
): CardValues {
  const charged = roundFraction(charge.charged, digits, mode);
  const value = charge.bounded === charge.charged ? charged : roundFraction(charge.bounded, digits, mode);
  return {
    value,
    get slabs() {
      const amounts = charge.slabs.map(({ amount }) => amount);
      return allocateRemainders(amounts, charged, digits);
    },
    adjustment: subtract(value, charged),
  };
}

/** Truncates each amount, and adds the units missing to `total` to the largest remainders, the first of equals first. */
function allocateRemainders(amounts: readonly Fraction[], total: Decimal, digits: number): readonly Decimal[] {
  const values = amounts.map((amount) => floorFraction(amount, digits));
  const missing = subtract(total, sum(values));
  if (values.length === 0 || missing.isZero()) return values;
  const unit = new Decimal(`1e-${digits}`);
  const units = Number(missing.divToInt(unit).toFixed(0));
  const remainders = amounts.map((amount, index) => ({
    index,
    rest: subtractFractions(amount, toFraction(values[index] ?? ZERO)),
  }));
  remainders.sort((a, b) => compareFractions(b.rest, a.rest) || a.index - b.index);
  for (const { index } of remainders.slice(0, units)) values[index] = add(values[index] ?? ZERO, unit);
  return values;
}
