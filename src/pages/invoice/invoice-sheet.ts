/** What a page says of an invoice: its facts, rows and totals in words. */
import { formatInstant, type Instant } from "../../calendar/instant.ts";
import { optionError } from "../../errors.ts";
import {
  computePayment,
  computeTotals,
  type InvoiceTotals,
  type StatedTax,
  type Invoice,
  invoiceParts,
  type InvoiceStatus,
} from "../../invoicing/invoice.ts";
import { dueInvoiceId } from "../../ledger/account/record-ids.ts";
import { type Decimal, isDecimalObject, parseDecimal, ZERO } from "../../numbers/decimal.ts";
import { type InvoiceDetails, type InvoiceTax, parseTaxAmount } from "./invoice-details.ts";
import {
  createItemRows,
  createSumRow,
  createTrueUpRows,
  createUnpricedRows,
  formatInvoiceNumber,
  type PageRow,
} from "./invoice-lines.ts";
import { createInvoiceTexts, type InvoiceTexts } from "./invoice-texts.ts";

/** An invoice in words; `rows` can be generated several times. */
export interface InvoiceSheet {
  readonly details: InvoiceDetails;
  readonly texts: InvoiceTexts;
  readonly id: string;
  readonly number: string;
  readonly title: string;
  readonly isDraft: boolean;
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly status: string;
  readonly rows: () => Iterable<PageRow>;
  readonly notices: readonly string[];
}

/**
 * The sheet of an invoice.
 *
 * @param mergedInto the number of the group's invoice that contains it
 * @throws {RatebookError} ERR_OPTION_INVALID for something else than an invoice, or a tax with too many digits
 */
export function createInvoiceSheet(invoice: Invoice, details: InvoiceDetails, mergedInto?: string): InvoiceSheet {
  requireInvoice(invoice);
  const { invoiceType, startDate, endDate, invoiceDate, accountId, currency, notices } = invoice;
  const texts = createInvoiceTexts(details, currency);
  const { words } = texts;
  const { id = deriveInvoiceId(invoice), status = invoice.status, dueDate = invoice.dueDate } = details;
  const number = details.number ?? formatInvoiceNumber(id, invoiceDate);
  const totals = computeTotals(invoice, readTaxes(details, currency));
  const isDraft = status === "DRAFT";
  const hasDueDate = details.dueDate !== undefined || status === "DUE" || status === "PAID";
  return {
    details,
    texts,
    id,
    number,
    title: words.titles[invoiceType],
    isDraft,
    facts: [
      [words.number, number],
      [words.date, texts.formatDate(invoiceDate)],
      ...(hasDueDate ? [[words.due, texts.formatDate(dueDate)] as const] : []),
      [words.period, texts.formatPeriod(startDate, endDate)],
      [words.account, details.account ?? accountId],
      ...(details.plan === undefined ? [] : [[words.plan, details.plan] as const]),
      ...listReference(details, texts),
    ],
    status: describeStatus(status, totals.payable, { texts, dueDate, mergedInto }),
    *rows() {
      yield* createItemRows(invoice, texts);
      yield* createSumRows(invoice, details, totals, { texts, status });
      yield* createUnpricedRows(invoice, texts);
    },
    notices,
  };
}

/** The id that an engine gives an invoice, draft or final. */
function deriveInvoiceId({ accountId, invoiceType, startDate, invoiceDate, dueSince }: Invoice): string {
  const late = invoiceType !== "STANDARD" && dueSince !== undefined ? [dueSince] : [];
  return dueInvoiceId(accountId, [invoiceType, startDate, invoiceDate, ...late].join("|"));
}

function requireInvoice(invoice: Invoice): void {
  const { revenueInfo } = (invoice ?? {}) as Partial<Invoice>;
  if (revenueInfo === undefined || !isDecimalObject(revenueInfo.value))
    throw optionError("invoice", "expected an invoice of `preview` or of an engine, with Decimals");
}

function readTaxes({ taxes = [] }: InvoiceDetails, currency: string): readonly StatedTax[] {
  return taxes.map(({ rate, amount, taxable }, index) => ({
    rate: rate === undefined ? undefined : parseDecimal(rate),
    amount: parseTaxAmount(amount, `taxes[${index}].amount`, currency),
    taxable: parseTaxAmount(taxable, `taxes[${index}].taxable`, currency),
  }));
}

function listReference({ reference }: InvoiceDetails, { words }: InvoiceTexts): InvoiceSheet["facts"] {
  return reference === undefined ? [] : [[words.reference, reference]];
}

interface StatusContext {
  readonly texts: InvoiceTexts;
  readonly dueDate: string;
  readonly mergedInto?: string | undefined;
}

function describeStatus(
  status: InvoiceStatus,
  payable: Decimal,
  { texts: { words, formatAmount, formatDate }, dueDate, mergedInto }: StatusContext,
): string {
  if (status === "DRAFT") return words.draftStatus;
  if (status === "MERGED") return words.mergedStatus(mergedInto);
  if (status === "PAID") return words.paidStatus;
  return payable.gt(0) ? words.dueStatus(formatAmount(payable), formatDate(dueDate)) : words.nothingDueStatus;
}

/** The subtotal, taxes, total, credits, and what is paid and due. */
function* createSumRows(
  invoice: Invoice,
  { taxes = [] }: InvoiceDetails,
  totals: InvoiceTotals,
  { texts, status }: { readonly texts: InvoiceTexts; readonly status: InvoiceStatus },
): Generator<PageRow> {
  const { words } = texts;
  const { subTotals, trueUps } = invoiceParts(invoice);
  for (const { value } of subTotals) yield createSumRow(words.subTotal, value, texts);
  for (const line of trueUps) yield* createTrueUpRows(line, texts);
  yield* createTaxRows(taxes, totals, texts);
  yield { ...createSumRow(words.total, totals.total, texts), kind: "total" };
  for (const { creditKind, description, id, value } of totals.credits) {
    const kindName = creditKind && words.creditKinds[creditKind];
    yield createSumRow(words.credit(kindName ?? description ?? id ?? ""), value, texts);
  }
  const { amountPaid } = computePayment(status, totals.payable);
  if (status === "PAID") yield createSumRow(words.paid, amountPaid.negated(), texts);
  if (status === "MERGED" || (status === "DRAFT" && totals.credits.length === 0)) return;
  const due = status === "PAID" ? ZERO : totals.payable;
  yield { ...createSumRow(words.amountDue, due, texts), kind: "total" };
}

function* createTaxRows(taxes: readonly InvoiceTax[], totals: InvoiceTotals, texts: InvoiceTexts): Generator<PageRow> {
  const { words, formatAmount, formatPercent } = texts;
  for (const [index, { taxable, amount }] of totals.taxes.entries()) {
    const { name = "", rate, taxable: statedBase, reverseCharge = false } = taxes[index] ?? {};
    const label = rate === undefined ? name : `${name} ${formatPercent(parseDecimal(rate))}`;
    const hasBase = rate !== undefined || statedBase !== undefined;
    yield createSumRow(hasBase ? words.taxOn(label, formatAmount(taxable)) : label, amount, texts);
    if (reverseCharge !== false)
      yield { kind: "note", label: reverseCharge === true ? words.reverseCharge : reverseCharge };
  }
}

/** A group's invoice. */
export interface CompositeInvoice {
  readonly id: string;
  readonly group: string;
  readonly currency: string;
  readonly invoiceDate: Instant;
  readonly dueDate: Instant;
  readonly total: Decimal;
  /** The invoices in it, each with the name of its account. */
  readonly invoices: readonly { readonly number: string; readonly account: string; readonly total: Decimal }[];
}

/** The sheet of a composite invoice: the invoices in it, with accounts and numbers. */
export function createCompositeSheet(composite: CompositeInvoice, details: InvoiceDetails): InvoiceSheet {
  const { id, group, currency, total, invoices } = composite;
  const [invoiceDate, dueDate] = [composite.invoiceDate, composite.dueDate].map(formatInstant) as [string, string];
  const texts = createInvoiceTexts(details, currency);
  const { words, formatAmount, formatDate } = texts;
  const number = formatInvoiceNumber(id, invoiceDate);
  return {
    details,
    texts,
    id,
    number,
    title: words.titles.STANDARD,
    isDraft: false,
    facts: [
      [words.number, number],
      [words.date, formatDate(invoiceDate)],
      [words.due, formatDate(dueDate)],
      [words.group, group],
      ...listReference(details, texts),
    ],
    status: describeStatus("DUE", total, { texts, dueDate }),
    *rows() {
      for (const { number: part, account, total: amount } of invoices) {
        yield { kind: "card", label: account, amount: formatAmount(amount) };
        yield { kind: "note", label: words.invoiceOf(part) };
      }
      yield { kind: "total", label: words.total, amount: formatAmount(total) };
    },
    notices: [],
  };
}
