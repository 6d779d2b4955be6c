/** The rows of an invoice for its recipient: cards with tiers in words; its dates, number and title. */
import { addDays, type Instant, parseInstant } from "../../calendar/instant.ts";
import { COMMITMENT_NAME } from "../../invoicing/draft.ts";
import {
  formatMoney,
  type DescribedLine,
  describeLine,
  type LineTexts,
  PLAIN_TEXTS,
} from "../../invoicing/invoice-rows.ts";
import { ENGLISH, type InvoiceWords } from "../../invoicing/invoice-words.ts";
import { computePayment, type Invoice, type InvoiceLine, invoiceParts } from "../../invoicing/invoice.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { type Decimal, ZERO } from "../../numbers/decimal.ts";
import { BASE_62, shortId } from "../../numbers/short-id.ts";
import type { SlabExplanation } from "../../rating/charge.ts";
import { ruleLink } from "../../rulebook.ts";
import { listTableLines, type TableLine, type TableLines } from "../table-lines.ts";

export interface PageRow {
  /** `subtotal` is above the `item` rows of a price table that it adds up. */
  readonly kind: "group" | "card" | "slab" | "subtotal" | "item" | "note" | "sum" | "total";
  readonly label: string;
  readonly quantity?: string;
  /** What the quantity counts. */
  readonly unit?: string | undefined;
  readonly rate?: string;
  /** What the rate is for. */
  readonly basis?: string | undefined;
  readonly amount?: string;
}

/** The language, numbers and units of an invoice in a currency. */
export interface PageTexts extends LineTexts {
  readonly words: InvoiceWords;
  readonly formatAmount: (amount: Decimal) => string;
  readonly formatRate: (rate: Decimal) => string;
  /** A half-open period. */
  readonly formatPeriod: (startDate: string, endDate: string) => string;
  /** What the units of a meter, add-on or feature are called. */
  readonly findUnit: (id: string | undefined) => string | undefined;
  /** What the rate of a tier is for; undefined if tiers say it. */
  readonly describeBasis: (slab: SlabExplanation, unit: string | undefined) => string | undefined;
}

/** English, without the names of currencies and units. */
function createPlainTexts(currency: string): PageTexts {
  const formatAmount = (amount: Decimal): string => formatMoney(amount, minorUnitDigits(currency));
  return {
    ...PLAIN_TEXTS,
    words: ENGLISH,
    formatAmount,
    formatRate: formatAmount,
    formatPeriod: formatLongPeriod,
    findUnit: () => undefined,
    describeBasis: () => undefined,
  };
}

/** The rows of an invoice in English, generated one at a time because there may be tens of thousands. */
export function* createPageRows(invoice: Invoice): Generator<PageRow> {
  const { currency, revenueInfo, status } = invoice;
  const texts = createPlainTexts(currency);
  const sumRow = (label: string, amount: Decimal): PageRow => ({
    kind: "sum",
    label,
    amount: texts.formatAmount(amount),
  });
  const { subTotals, trueUps, credits } = invoiceParts(invoice);
  const { amountPaid, amountDue } = computePayment(status, revenueInfo.value);
  for (const { basis, ...row } of createItemRows(invoice, texts))
    yield basis === undefined ? row : { ...row, rate: `${row.rate} ${basis}` };
  for (const { value } of subTotals) yield sumRow("Sub-total", value);
  for (const line of trueUps) yield* createTrueUpRows(line, texts);
  for (const { description, id, value } of credits) yield sumRow(`Credit: ${description ?? id ?? ""}`, value);
  yield { ...sumRow(`Total ${currency}`, revenueInfo.value), kind: "total" };
  if (status === "DUE" || status === "PAID") {
    yield sumRow("Paid", amountPaid);
    yield { ...sumRow(`Due ${currency}`, amountDue), kind: "total" };
  }
  yield* createUnpricedRows(invoice, texts);
}

/** The rows of an invoice's cards. */
export function* createItemRows(invoice: Invoice, texts: PageTexts): Generator<PageRow> {
  for (const { lineItems = [] } of invoiceParts(invoice).subTotals) {
    for (const line of lineItems) yield* createCardRows(describeLine(line, texts), texts);
  }
}

/** The rows of a minimum commitment. */
export function* createTrueUpRows(line: InvoiceLine, texts: PageTexts): Generator<PageRow> {
  const { description = COMMITMENT_NAME, value } = line;
  const label = description === COMMITMENT_NAME ? texts.words.commitment : description;
  yield { kind: "sum", label, amount: texts.formatAmount(value) };
  yield* createNoteRows(describeLine(line, texts));
}

/** The usage without a price. */
export function* createUnpricedRows(invoice: Invoice, texts: PageTexts): Generator<PageRow> {
  const { unpriced } = invoiceParts(invoice);
  if (unpriced.length > 0) yield { kind: "group", label: texts.words.unpriced };
  for (const { id, description, quantity } of unpriced) {
    yield { kind: "slab", label: description, quantity: texts.formatNumber(quantity), unit: texts.findUnit(id) };
  }
}

/** A card with the lines below it, or the cards with one tag. */
function* createCardRows(described: DescribedLine, texts: PageTexts): Generator<PageRow> {
  const { line, label, items } = described;
  if (line.type === "CUSTOM_TAG") {
    yield { kind: "group", label, amount: texts.formatAmount(line.value) };
    for (const card of items) yield* createCardRows(card, texts);
    return;
  }
  const unit = texts.findUnit(line.id);
  const table = listTableLines(described, texts);
  if (table !== undefined) {
    yield createRow("card", label, { ...line, valuePerQuantity: undefined, unit }, texts);
    yield* createNoteRows(described);
    yield* createTableRows(table, unit, texts);
    return;
  }
  const [only, second] = items;
  // A slab that only repeats the card's figures is shown in the card's row.
  const isOnOneRow = only !== undefined && second === undefined && isWholeCard(only, line, texts);
  const rate = isOnOneRow ? only.line.valuePerQuantity : undefined;
  yield createRow("card", label, { ...line, valuePerQuantity: rate, unit, slab: only?.slab }, texts);
  yield* createNoteRows(described);
  for (const { line: item, label: itemLabel, partLabel = itemLabel, slab, notes } of items) {
    if (!isOnOneRow) yield createRow("slab", partLabel, { ...item, unit, slab }, texts);
    for (const { text } of notes) yield { kind: "note", label: text };
  }
}

/** The lines of a price table, with subtotals. */
function* createTableRows(
  { items, others }: TableLines,
  unit: string | undefined,
  texts: PageTexts,
): Generator<PageRow> {
  for (const item of items) {
    if ("lines" in item) {
      yield createRow("subtotal", item.group, { ...item, unit }, texts);
      for (const line of item.lines) yield* createTableLineRows("item", line, unit, texts);
    } else yield* createTableLineRows("slab", item, unit, texts);
  }
  for (const { line, label, partLabel = label, notes } of others) {
    yield createRow("slab", partLabel, { ...line, unit }, texts);
    for (const { text } of notes) yield { kind: "note", label: text };
  }
}

function* createTableLineRows(
  kind: "slab" | "item",
  { described: { line, notes, slab }, group, days, tier, ratePerMillion }: TableLine,
  unit: string | undefined,
  texts: PageTexts,
): Generator<PageRow> {
  const period =
    days === undefined ? [] : [texts.formatPeriod(`${days.startDate}T00:00:00Z`, `${days.endDate}T00:00:00Z`)];
  const label = [group, ...period].join(", ");
  const row = createRow(kind, tier === undefined ? label : `${label}: ${tier}`, { ...line, unit, slab }, texts);
  if (ratePerMillion === undefined) yield row;
  else yield { ...row, rate: texts.formatRate(ratePerMillion), basis: texts.words.perMillion };
  for (const { text } of notes) yield { kind: "note", label: text };
}

/** Whether a tier prices all units, and its amount is quantity × rate or its basis is shown. */
function isWholeCard({ line: { value, quantity }, slab }: DescribedLine, card: InvoiceLine, texts: PageTexts): boolean {
  if (slab?.startAfter.isZero() !== true || !value.eq(card.value)) return false;
  const showsBasis = slab.endAt === undefined && texts.describeBasis(slab, undefined) !== undefined;
  return (slab.priceType === "PER_UNIT" || showsBasis) && quantity?.eq(card.quantity ?? ZERO) === true;
}

interface RowFigures extends Pick<InvoiceLine, "value" | "quantity"> {
  readonly valuePerQuantity?: Decimal | undefined;
  readonly unit: string | undefined;
  readonly slab?: SlabExplanation | undefined;
}

function createRow(
  kind: PageRow["kind"],
  label: string,
  { quantity, valuePerQuantity, value, unit, slab }: RowFigures,
  texts: PageTexts,
): PageRow {
  const basis =
    slab === undefined || valuePerQuantity?.isZero() !== false ? undefined : texts.describeBasis(slab, unit);
  return {
    kind,
    label,
    ...(quantity === undefined ? {} : { quantity: texts.formatNumber(quantity), unit }),
    ...(valuePerQuantity === undefined ? {} : { rate: texts.formatRate(valuePerQuantity), basis }),
    amount: texts.formatAmount(value),
  };
}

/** Sentences on the calculation of a line, if quantity and rate don't explain it, and on a quantity that is no sum. */
function createNoteRows({ line, notes }: DescribedLine): readonly PageRow[] {
  const shown = isSimpleLine(line)
    ? notes.filter(({ rules }) => rules.includes(ruleLink("S19.1")))
    : notes.filter(({ hasFigures }) => hasFigures);
  return shown.map(({ text }) => ({ kind: "note", label: text }));
}

/** Whether a line is a single quantity that is charged in full. */
export function isSimpleLine({ explanation }: InvoiceLine): boolean {
  const parts = explanation !== undefined && "parts" in explanation ? explanation.parts : [];
  const [only, ...more] = parts;
  return only !== undefined && more.length === 0 && only.share.days === only.share.of && only.quantity !== undefined;
}

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** `15 June 2026`. */
export function formatLongDate(instant: Instant): string {
  const date = new Date(instant);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()] ?? ""} ${date.getUTCFullYear()}`;
}

/** The first and last day of a half-open period, without repeating equal parts: `15 to 30 June 2026`. */
export function formatLongPeriod(startDate: string, endDate: string): string {
  const start = parseInstant(startDate);
  const last = Math.max(start, addDays(parseInstant(endDate), -1));
  const [from, until] = [formatLongDate(start).split(" "), formatLongDate(last).split(" ")];
  if (from.join(" ") === until.join(" ")) return from.join(" ");
  const partCount = from[2] !== until[2] ? 3 : from[1] !== until[1] ? 2 : 1;
  return `${from.slice(0, partCount).join(" ")} to ${until.join(" ")}`;
}

/** Crockford's digits, without those that are easily confused. */
const READABLE_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const DIGIT_COUNT = 10;

/**
 * The number of an invoice, such as `2026-11 7K3F9-QTDX2`. It depends only on the id and the month, so a draft keeps it
 * when it becomes final. The ten characters are 50 bits of the id: among a million invoices in a month, two have the
 * same number with a probability of 1 in 2000.
 *
 * @param invoiceDate ISO 8601
 */
export function formatInvoiceNumber(id: string, invoiceDate: string): string {
  const idDigits = /^[a-z]+\.([0-9A-Za-z]{16})$/.exec(id)?.[1] ?? shortId("inv", [id]).slice("inv.".length);
  let rest = Array.from(idDigits).reduce((value, digit) => value * 62n + BigInt(BASE_62.indexOf(digit)), 0n);
  let digits = "";
  for (let count = 0; count < DIGIT_COUNT; count++) {
    digits = READABLE_DIGITS.charAt(Number(rest % 32n)) + digits;
    rest /= 32n;
  }
  return `${invoiceDate.slice(0, 7)} ${digits.slice(0, 5)}-${digits.slice(5)}`;
}
