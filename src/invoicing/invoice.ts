/**
 * The structure of an invoice (S13.1, S13.2): a tree of lines in which every line above a card is the sum of the
 * rounded lines below it, each with its explanation as data: enough to recompute its value manually (S13.6); and its
 * totals with the taxes that the host states.
 */
import type { Cycle } from "../calendar/cycle.ts";
import { formatInstant } from "../calendar/instant.ts";
import type { CreditKind } from "../credits/monetary-credits.ts";
import { minorUnitDigits } from "../numbers/currency.ts";
import { type Decimal, maximum, subtract, sum, add, multiply, ZERO } from "../numbers/decimal.ts";
import { type Fraction, roundFraction } from "../numbers/fraction.ts";
import type { Rounding } from "../rating/cards.ts";
import {
  CARD_KINDS,
  type CardKind,
  type Charge,
  type ChargeExplanation,
  type PricedUsage,
  type UnpricedUsage,
} from "../rating/charge.ts";
import { type RuleLink, ruleLink } from "../rulebook.ts";

/** In arrears for a cycle, in advance for a cycle, or immediately for a license increase (S13.1). */
export type InvoiceType = (typeof INVOICE_TYPES)[number];

/** The types of invoice, in the order in which those of one date take credits (S12.3). */
export const INVOICE_TYPES = ["STANDARD", "STANDARD_ADVANCED", "AD_HOC"] as const;

/** DRAFT until it becomes final (S13.4); MERGED once its group's composite invoice contains it (S16.7). */
export const INVOICE_STATUSES = ["DRAFT", "DUE", "PAID", "MERGED"] as const;
export type InvoiceStatus = (typeof INVOICE_STATUSES)[number];

/** The type of a card's line. Slab lines have the same types in arrears and in advance. */
type CardLineType =
  | `${CardKind}_RATE_CARD_AMOUNT`
  | `${CardKind}_RATE_CARD_SLAB_AMOUNT`
  | "ADVANCED_FIXED_FEE"
  | `ADVANCED_${Exclude<CardKind, "FIXED_FEE">}_RATE_CARD_AMOUNT`;

/** The type of a card's line, in arrears or in advance. */
export function cardLineType(kind: CardKind, inAdvance: boolean): CardLineType {
  if (!inAdvance) return `${kind}_RATE_CARD_AMOUNT`;
  return kind === "FIXED_FEE" ? "ADVANCED_FIXED_FEE" : `ADVANCED_${kind}_RATE_CARD_AMOUNT`;
}

/** The types of card lines, in arrears and in advance. */
export const CARD_LINE_TYPES: ReadonlySet<string> = new Set(
  CARD_KINDS.flatMap((kind) => [cardLineType(kind, false), cardLineType(kind, true)]),
);

/** The types of lines that are the sum of those directly below (S1.5). */
export const SUM_LINE_TYPES: ReadonlySet<string> = new Set([
  "TOTAL_AMOUNT",
  "NET_AMOUNT",
  "TOTAL_CREDITS",
  "GROSS_AMOUNT",
  "PRICE_PLAN_AMOUNT",
  "SUB_TOTAL_AMOUNT",
  "CUSTOM_TAG",
] satisfies LineType[]);

/** The type of a line in the tree of S13.2. */
export type LineType =
  | "TOTAL_AMOUNT"
  | "NET_AMOUNT"
  | "TOTAL_CREDITS"
  | "SUB_CREDITS"
  | "GROSS_AMOUNT"
  | "PRICE_PLAN_AMOUNT"
  | "SUB_TOTAL_AMOUNT"
  | "CUSTOM_TAG"
  | CardLineType
  | "RATE_CONFIG_ADJUSTMENT_AMOUNT"
  | "TRUE_UP_AMOUNT";

/** One line of an invoice, in the invoice's currency. */
export interface InvoiceLine {
  readonly type: LineType;
  /** The id of the meter, add-on or feature; on a credit line, that of the credit. */
  readonly id?: string;
  /** The kind of the credit of a SUB_CREDITS line. */
  readonly creditKind?: CreditKind;
  readonly description?: string;
  /** Rounded to the currency's minor unit (S1.5). Credits are negative. */
  readonly value: Decimal;
  /** The exact amount as text, if it differs; 34 significant digits if it has infinitely many. */
  readonly exactValue?: string;
  /** Units. */
  readonly quantity?: Decimal;
  /** The rate of a slab. */
  readonly valuePerQuantity?: Decimal;
  /** On a slab of a card with a price table: the usage that it prices (S18.6). */
  readonly usage?: PricedUsage;
  readonly lineItems?: readonly InvoiceLine[];
  /** How the value was computed, if requested (S13.6). */
  readonly explanation?: Explanation;
}

/** A meter's usage in the cycle, priced or not. */
export interface UsageLine {
  readonly type: "USAGE_METER_USAGE";
  readonly id: string;
  readonly description: string;
  readonly quantity: Decimal;
  /** The feature whose credits the meter's events consume: such a meter cannot have usage cells (S17.1). */
  readonly featureId?: string;
}

/** One invoice of one account. Instants are ISO 8601 texts, UTC; periods are half open. */
export interface Invoice {
  readonly accountId: string;
  readonly customerId: string;
  readonly invoiceType: InvoiceType;
  readonly status: InvoiceStatus;
  readonly currency: string;
  readonly pricePlanId: string;
  readonly pricePlanVersion: number;
  /** The billing period: the account's cycle. */
  readonly startDate: string;
  /** Exclusive. */
  readonly endDate: string;
  readonly invoiceDate: string;
  readonly dueDate: string;
  /** On an advance or AD_HOC invoice that became due after its date: when. */
  readonly dueSince?: string;
  /**
   * On these and on every AD_HOC invoice: when its plan was decided. A plan that is associated again on a cycle's first
   * day charges the cycle again, and the previous charge is refunded (S9.5).
   */
  readonly planDecidedAt?: string;
  /** On STANDARD invoices of cycles with usage. */
  readonly usageInfo?: { readonly type: "TOTAL_USAGE"; readonly lineItems: readonly UsageLine[] };
  readonly revenueInfo: InvoiceLine;
  /** Sentences to read before paying. */
  readonly notices: readonly string[];
  /** Usage that no row of a price table prices, if there is any (S18.2). */
  readonly unpriced?: readonly UnpricedUsage[];
}

/** A line and all lines below it, parents first. */
export function allLines(line: InvoiceLine): readonly InvoiceLine[] {
  return [line, ...(line.lineItems ?? []).flatMap(allLines)];
}

/** The sections of an invoice in reading order; the total comes last. */
export interface InvoiceParts {
  /** The sub-totals, each with its cards. */
  readonly subTotals: readonly InvoiceLine[];
  /** The true-ups other than 0. */
  readonly trueUps: readonly InvoiceLine[];
  readonly credits: readonly InvoiceLine[];
  /** Usage without a price. */
  readonly unpriced: readonly UsageLine[];
}

export function invoiceParts({ revenueInfo, usageInfo }: Pick<Invoice, "revenueInfo" | "usageInfo">): InvoiceParts {
  const lines = allLines(revenueInfo);
  const ofType = (type: LineType): readonly InvoiceLine[] => lines.filter((line) => line.type === type);
  const priced = new Set(lines.map(({ id }) => id));
  return {
    subTotals: ofType("SUB_TOTAL_AMOUNT"),
    trueUps: ofType("TRUE_UP_AMOUNT").filter(({ value }) => !value.isZero()),
    credits: ofType("TOTAL_CREDITS").flatMap(({ lineItems = [] }) => lineItems),
    unpriced: (usageInfo?.lineItems ?? []).filter(({ id }) => !priced.has(id)),
  };
}

/**
 * The sum of the totals of one account's invoices, in which an invoice below zero counts once, not again where its
 * credit pays another one (S13.4). Payments from the credit of any other invoice are deducted like those from any
 * credit.
 *
 * @param invoices of one account, in one currency
 */
export function netTotal(invoices: readonly Invoice[]): Decimal {
  const totals = invoices.map(({ revenueInfo }) => revenueInfo.value);
  const belowZero = sum(totals.filter((total) => total.isNegative()));
  const credits = invoices
    .flatMap(({ revenueInfo }) => allLines(revenueInfo))
    .filter(({ creditKind }) => creditKind === "NEGATIVE_INVOICE");
  const paidByThem = sum(credits.map(({ value }) => value));
  // Both are negative or 0.
  return subtract(sum(totals), maximum(belowZero, paidByThem));
}

/** A half-open period as ISO texts. */
interface Period {
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
export interface CardExplanation extends RoundedExplanation {
  readonly of: "CARD";
  /** The served part of the natural period; the billing period is the invoice's (S6.7). */
  readonly served: Period;
}

/** A true-up: the commitment, minus the sub-totals of the invoices for the cycle, plus their refunds (S13.3). */
export interface TrueUpExplanation extends RoundedExplanation {
  readonly of: "TRUE_UP";
  /** The invoice's cycle. */
  readonly served: Period;
  readonly invoiced: readonly { readonly invoiceType: string; readonly invoiceDate: string; readonly value: Decimal }[];
  /** The refunds of these invoices, if any. */
  readonly refunds?: readonly CountedRefund[];
}

/** The payments of a credit, line by line (S12.3). */
interface CreditExplanation {
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
  readonly refund?: RoundedExplanation;
}

/** An amount that is rounded once: the sum of its parts, within its limits. A refund is such an amount (S9.5, S10.3). */
export interface RoundedExplanation extends CitedExplanation {
  /** The period of the shares, the denominator of proration. */
  readonly natural: Period;
  /** Before rounding. */
  readonly exact: Fraction;
  readonly rounding: Rounding;
}

/** A refund counted by a true-up. */
export interface CountedRefund extends RoundedExplanation {
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

/** A tax as the host states it. */
export interface StatedTax {
  /** In percent. */
  readonly rate?: Decimal | undefined;
  /** Default: `rate` of `taxable`, rounded half up to the currency's minor unit; 0 without a rate. */
  readonly amount?: Decimal | undefined;
  /** The amount that is taxed; default: the subtotal with the minimum commitment, before credits. */
  readonly taxable?: Decimal | undefined;
}

/** The totals of an invoice, in its currency. */
export interface InvoiceTotals {
  /** In the order in which they were stated. */
  readonly taxes: readonly { readonly taxable: Decimal; readonly amount: Decimal }[];
  /** With taxes, before credits. */
  readonly total: Decimal;
  /** The credits that pay a part of it; their values are negative. */
  readonly credits: readonly InvoiceLine[];
  /** What is left after credits, paid or not. */
  readonly payable: Decimal;
}

/** Adds taxes to an invoice. */
export function computeTotals(invoice: Invoice, taxes: readonly StatedTax[]): InvoiceTotals {
  const { credits } = invoiceParts(invoice);
  const creditSum = sum(credits.map(({ value }) => value));
  const gross = subtract(invoice.revenueInfo.value, creditSum);
  const digits = minorUnitDigits(invoice.currency);
  const computedTaxes = taxes.map(({ rate = ZERO, taxable = gross, amount }) => {
    const exact = { numerator: multiply(taxable, rate), denominator: 100 };
    return { taxable, amount: amount ?? roundFraction(exact, digits, "HALF_UP") };
  });
  const total = sum([gross, ...computedTaxes.map(({ amount }) => amount)]);
  return { taxes: computedTaxes, total, credits, payable: add(total, creditSum) };
}

/**
 * The paid and due amounts of a total. Drafts, invoices within a group's invoice and paid ones have nothing due (S13.4,
 * S16.7).
 */
export function computePayment(
  status: InvoiceStatus,
  total: Decimal,
): { readonly amountPaid: Decimal; readonly amountDue: Decimal } {
  switch (status) {
    case "DUE":
      return { amountPaid: ZERO, amountDue: total };
    case "PAID":
      return { amountPaid: maximum(total, ZERO), amountDue: ZERO };
    case "DRAFT":
    case "MERGED":
      return { amountPaid: ZERO, amountDue: ZERO };
  }
}
