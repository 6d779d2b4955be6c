/**
 * The structure of an invoice (S13.1, S13.2): a tree of lines in which every line above a card is the sum of the
 * rounded lines below it.
 *
 * @module
 */
import type { CreditKind } from "../credits/monetary-credits.ts";
import type { Decimal } from "../numbers/decimal.ts";
import { CARD_KINDS, type CardKind } from "../rating/charge.ts";
import type { Explanation } from "./explain.ts";

/** In arrears for a cycle, in advance for a cycle, or immediately for a license increase (S13.1). */
export type InvoiceType = (typeof INVOICE_TYPES)[number];

/** The types of invoice, in the order in which those of one date take credits (S12.3). */
export const INVOICE_TYPES = ["STANDARD", "STANDARD_ADVANCED", "AD_HOC"] as const;

/** DRAFT until it becomes final (S13.4); MERGED once its group's composite invoice contains it (S16.7). */
export const INVOICE_STATUSES = ["DRAFT", "DUE", "PAID", "MERGED"] as const;
export type InvoiceStatus = (typeof INVOICE_STATUSES)[number];

/** The type of a card's line. Slab lines have the same types in arrears and in advance. */
export type CardLineType =
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
