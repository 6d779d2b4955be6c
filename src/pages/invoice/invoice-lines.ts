/** The rows of an invoice for its recipient: cards with tiers in words; its dates, number and title. */
import { addDays, type Instant, parseInstant } from "../../calendar/instant.ts";
import { COMMITMENT_NAME } from "../../invoicing/draft.ts";
import { describeParts, formatMoney, PLAIN_TEXTS } from "../../invoicing/invoice-rows.ts";
import { ENGLISH, type InvoiceWords } from "../../invoicing/invoice-words.ts";
import { type Invoice, type InvoiceLine, invoiceParts } from "../../invoicing/invoice.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import type { Decimal } from "../../numbers/decimal.ts";
import { BASE_62, shortId } from "../../numbers/ids.ts";
import { ruleLink } from "../../rulebook.ts";
import { type CardLine, type CardTexts, createCardLine } from "./card-lines.ts";

export interface PageRow {
  readonly kind: CardLine["kind"] | "note" | "sum" | "total";
  readonly label: string;
  readonly quantity?: string | undefined;
  /** What the quantity counts. */
  readonly unit?: string | undefined;
  readonly rate?: string | undefined;
  /** What the rate is for. */
  readonly basis?: string | undefined;
  readonly amount?: string | undefined;
}

/** The language, numbers and units of an invoice in a currency. */
export interface PageTexts extends CardTexts {
  readonly words: InvoiceWords;
  readonly formatAmount: (amount: Decimal) => string;
  readonly formatRate: (rate: Decimal) => string;
  /** A half-open period. */
  readonly formatPeriod: (startDate: string, endDate: string) => string;
  /** What the units of a meter, add-on or feature are called. */
  readonly findUnit: (id: string | undefined) => string | undefined;
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
  };
}

/** The rows of a draft in English, generated one at a time because there may be tens of thousands. */
export function* createPageRows(invoice: Invoice): Generator<PageRow> {
  const { currency, revenueInfo } = invoice;
  const texts = createPlainTexts(currency);
  const { subTotals, trueUps, credits } = invoiceParts(invoice);
  for (const { basis, ...row } of createItemRows(invoice, texts))
    yield basis === undefined ? row : { ...row, rate: `${row.rate} ${basis}` };
  for (const { value } of subTotals) yield createSumRow("Sub-total", value, texts);
  for (const line of trueUps) yield* createTrueUpRows(line, texts);
  for (const { description, id, value } of credits)
    yield createSumRow(`Credit: ${description ?? id ?? ""}`, value, texts);
  yield { ...createSumRow(`Total ${currency}`, revenueInfo.value, texts), kind: "total" };
  yield* createUnpricedRows(invoice, texts);
}

/** The rows of an invoice's cards. */
export function* createItemRows(invoice: Invoice, texts: PageTexts): Generator<PageRow> {
  for (const { lineItems = [] } of invoiceParts(invoice).subTotals) {
    for (const line of lineItems) yield* createCardRows(createCardLine(line, texts), texts);
  }
}

export function createSumRow(label: string, amount: Decimal, { formatAmount }: PageTexts): PageRow {
  return { kind: "sum", label, amount: formatAmount(amount) };
}

/** The rows of a minimum commitment. */
export function* createTrueUpRows(line: InvoiceLine, texts: PageTexts): Generator<PageRow> {
  const { description = COMMITMENT_NAME, value } = line;
  const label = description === COMMITMENT_NAME ? texts.words.commitment : description;
  yield createSumRow(label, value, texts);
  yield* createNoteRows({ kind: "card", line, notes: describeParts(line, texts) });
}

/** The usage without a price. */
export function* createUnpricedRows(invoice: Invoice, texts: PageTexts): Generator<PageRow> {
  const { unpriced } = invoiceParts(invoice);
  if (unpriced.length > 0) yield { kind: "group", label: texts.words.unpriced };
  for (const { id, description, quantity } of unpriced) {
    yield { kind: "slab", label: description, quantity: texts.formatNumber(quantity), unit: texts.findUnit(id) };
  }
}

/** A card with the lines below it, or the cards with one tag. @param unitAbove that of the card above a line */
function* createCardRows(card: CardLine, texts: PageTexts, unitAbove?: string): Generator<PageRow> {
  const unit = card.kind === "card" ? texts.findUnit(card.line.id) : unitAbove;
  yield createCardRow(card, unit, texts);
  yield* createNoteRows(card);
  for (const below of card.lines) yield* createCardRows(below, texts, unit);
}

function createCardRow(
  { kind, line: { quantity, value }, label, days, tier, slab, rate, isRatePerMillion }: CardLine,
  unit: string | undefined,
  texts: PageTexts,
): PageRow {
  const period = days && texts.formatPeriod(`${days.startDate}T00:00:00Z`, `${days.endDate}T00:00:00Z`);
  const name = period === undefined ? label : `${label}, ${period}`;
  const basis =
    isRatePerMillion === true
      ? texts.words.perMillion
      : slab === undefined || rate?.isZero() !== false
        ? undefined
        : texts.describeBasis?.(slab, unit);
  return {
    kind,
    label: tier === undefined ? name : texts.words.withPrice(name, tier),
    quantity: quantity && texts.formatNumber(quantity),
    unit: quantity && unit,
    rate: rate && texts.formatRate(rate),
    basis: rate && basis,
    amount: texts.formatAmount(value),
  };
}

/** Sentences on the calculation of a line, if quantity and rate don't explain it, and on a quantity that is no sum. */
function createNoteRows({ kind, line, notes, onlyNotes = [] }: Omit<CardLine, "lines" | "label">): readonly PageRow[] {
  const isSimple = kind === "card" && isSimpleLine(line);
  const shown = notes.filter(({ rules, hasFigures }) => (isSimple ? rules.includes(ruleLink("S19.1")) : hasFigures));
  return [...shown, ...onlyNotes].map(({ text }) => ({ kind: "note", label: text }));
}

/** Whether a line is a single quantity that is charged in full. */
function isSimpleLine({ explanation }: Pick<CardLine, "line">["line"]): boolean {
  const parts = explanation !== undefined && "parts" in explanation ? explanation.parts : [];
  const [only, ...more] = parts;
  return only !== undefined && more.length === 0 && only.share.days === only.share.of && only.quantity !== undefined;
}

const longDate = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC", calendar: "gregory" });

/** `15 June 2026`. */
export function formatLongDate(instant: Instant): string {
  return longDate.format(instant);
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
