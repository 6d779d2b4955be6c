/** The totals of an invoice for its recipient: taxes that the host states, the total, and what is paid and due. */
import { minorUnitDigits } from "../numbers/currency.ts";
import { add, type Decimal, maximum, multiply, subtract, sum, ZERO } from "../numbers/decimal.ts";
import { roundFraction } from "../numbers/fraction.ts";
import { type Invoice, type InvoiceLine, invoiceParts, type InvoiceStatus } from "./invoice.ts";

/** A tax as the host states it. */
export interface StatedTax {
  /** In percent. */
  readonly rate?: Decimal | undefined;
  /** Default: `rate` of `taxable`, rounded half up to the currency's minor unit; 0 without a rate. */
  readonly amount?: Decimal | undefined;
  /** The amount that is taxed; default: the subtotal with the minimum commitment, before credits. */
  readonly taxable?: Decimal | undefined;
}

/** A tax with its amounts. */
export interface ComputedTax {
  readonly taxable: Decimal;
  readonly amount: Decimal;
}

/** The totals of an invoice, in its currency. */
export interface InvoiceTotals {
  /** In the order in which they were stated. */
  readonly taxes: readonly ComputedTax[];
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
  const computedTaxes = taxes.map(({ rate = ZERO, taxable = gross, amount }): ComputedTax => {
    const exact = { numerator: multiply(taxable, rate), denominator: 100 };
    return { taxable, amount: amount ?? roundFraction(exact, digits, "HALF_UP") };
  });
  const total = sum([gross, ...computedTaxes.map(({ amount }) => amount)]);
  return { taxes: computedTaxes, total, credits, payable: add(total, creditSum) };
}

/** The paid and due amounts of an invoice. */
interface Payment {
  readonly amountPaid: Decimal;
  readonly amountDue: Decimal;
}

/**
 * The paid and due amounts of a total. Drafts, invoices within a group's invoice and paid ones have nothing due (S13.4,
 * S16.7).
 */
export function computePayment(status: InvoiceStatus, total: Decimal): Payment {
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
