/**
 * The texts of an invoice for its recipient: dates, number and title, and its lines: cards with slabs in words, then
 * additions, payments and the amount due.
 */
import { addDays, type Instant, parseInstant } from "../../calendar/instant.ts";
import { formatMoney, formatNumber } from "../../invoicing/format-values.ts";
import { type DescribedLine, describeLine } from "../../invoicing/invoice-rows.ts";
import {
  type Invoice,
  type InvoiceLine,
  invoiceParts,
  type InvoiceStatus,
  type InvoiceType,
} from "../../invoicing/invoice.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { type Decimal, maximum, ZERO } from "../../numbers/decimal.ts";
import { BASE_62, shortId } from "../../numbers/short-id.ts";
import { ruleLink } from "../../rulebook.ts";
import { listTableLines, type TableLine, type TableLines } from "../table-lines.ts";

export interface PageRow {
  /** `subtotal` is above the `item` rows of a price table that it adds up. */
  readonly kind: "group" | "card" | "slab" | "subtotal" | "item" | "note" | "sum" | "total";
  readonly label: string;
  readonly quantity?: string;
  readonly rate?: string;
  readonly amount?: string;
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

/** The rows of an invoice, generated one at a time because there may be tens of thousands. */
export function* createPageRows(invoice: Invoice): Generator<PageRow> {
  const digits = minorUnitDigits(invoice.currency);
  const { revenueInfo, status } = invoice;
  const toMoneyText = (amount: Decimal): string => formatMoney(amount, digits);
  const sumRow = (label: string, amount: Decimal): PageRow => ({ kind: "sum", label, amount: toMoneyText(amount) });
  const { subTotals, trueUps, credits, unpriced } = invoiceParts(invoice);
  const { amountPaid, amountDue } = computePayment(status, revenueInfo.value);
  for (const { lineItems = [] } of subTotals) {
    for (const line of lineItems) yield* createItemRows(describeLine(line), digits);
  }
  for (const { value } of subTotals) yield sumRow("Sub-total", value);
  for (const line of trueUps) {
    yield sumRow(line.description ?? "Minimum commitment", line.value);
    yield* createNoteRows(describeLine(line));
  }
  for (const { description, id, value } of credits) yield sumRow(`Credit: ${description ?? id ?? ""}`, value);
  yield { kind: "total", label: `Total ${invoice.currency}`, amount: toMoneyText(revenueInfo.value) };
  if (status === "DUE" || status === "PAID") {
    yield sumRow("Paid", amountPaid);
    yield { kind: "total", label: `Due ${invoice.currency}`, amount: toMoneyText(amountDue) };
  }
  if (unpriced.length > 0) yield { kind: "group", label: "Usage without a price" };
  for (const { description, quantity } of unpriced) {
    yield { kind: "slab", label: description, quantity: formatNumber(quantity) };
  }
}

/** A card with the lines below it, or the cards with one tag. */
function* createItemRows(described: DescribedLine, digits: number): Generator<PageRow> {
  const { line, label, items } = described;
  if (line.type === "CUSTOM_TAG") {
    yield { kind: "group", label, amount: formatMoney(line.value, digits) };
    for (const card of items) yield* createItemRows(card, digits);
    return;
  }
  const table = listTableLines(described);
  if (table !== undefined) {
    yield createRow("card", label, { ...line, valuePerQuantity: undefined }, digits);
    yield* createNoteRows(described);
    yield* createTableRows(table, digits);
    return;
  }
  const [only, second] = items;
  // A slab that only repeats the card's figures is shown in the card's row.
  const isOnOneRow = only !== undefined && second === undefined && isWholeCard(only, line);
  const rate = isOnOneRow && isSimpleLine(line) ? only.line.valuePerQuantity : undefined;
  yield createRow("card", label, { ...line, valuePerQuantity: rate }, digits);
  yield* createNoteRows(described);
  for (const { line: item, label: itemLabel, partLabel = itemLabel, notes } of items) {
    if (!isOnOneRow) yield createRow("slab", partLabel, item, digits);
    for (const { text } of notes) yield createNoteRow(text);
  }
}

/** The lines of a price table, with subtotals. */
function* createTableRows({ items, others }: TableLines, digits: number): Generator<PageRow> {
  for (const item of items) {
    if ("lines" in item) {
      yield createRow("subtotal", item.group, item, digits);
      for (const line of item.lines) yield* createTableLineRows("item", line, digits);
    } else yield* createTableLineRows("slab", item, digits);
  }
  for (const { line, label, partLabel = label, notes } of others) {
    yield createRow("slab", partLabel, line, digits);
    for (const { text } of notes) yield createNoteRow(text);
  }
}

function* createTableLineRows(
  kind: "slab" | "item",
  { described: { line, notes }, group, days, tier, ratePerMillion }: TableLine,
  digits: number,
): Generator<PageRow> {
  const period =
    days === undefined ? [] : [formatLongPeriod(`${days.startDate}T00:00:00Z`, `${days.endDate}T00:00:00Z`)];
  const label = [group, ...period].join(", ");
  const row = createRow(kind, tier === undefined ? label : `${label}: ${tier}`, line, digits);
  yield ratePerMillion === undefined ? row : { ...row, rate: `${formatMoney(ratePerMillion, digits)} per million` };
  for (const { text } of notes) yield createNoteRow(text);
}

/** Whether the amount is quantity × rate for all units. Rates of packages or whole slabs need their own row. */
function isWholeCard({ line: { value, quantity }, slab }: DescribedLine, card: InvoiceLine): boolean {
  const coversAllUnits = slab?.priceType === "PER_UNIT" && slab.startAfter.isZero();
  return coversAllUnits && value.eq(card.value) && quantity?.eq(card.quantity ?? ZERO) === true;
}

interface RowFigures extends Pick<InvoiceLine, "value" | "quantity"> {
  readonly valuePerQuantity?: Decimal | undefined;
}

function createRow(
  kind: PageRow["kind"],
  label: string,
  { quantity, valuePerQuantity, value }: RowFigures,
  digits: number,
): PageRow {
  return {
    kind,
    label,
    ...(quantity === undefined ? {} : { quantity: formatNumber(quantity) }),
    ...(valuePerQuantity === undefined ? {} : { rate: formatMoney(valuePerQuantity, digits) }),
    amount: formatMoney(value, digits),
  };
}

/** Sentences on the calculation of a line, if quantity and rate don't explain it, and on a quantity that is no sum. */
function createNoteRows({ line, notes }: DescribedLine): readonly PageRow[] {
  const shown = isSimpleLine(line) ? notes.filter(({ rules }) => rules.includes(ruleLink("S19.1"))) : notes;
  return shown.map(({ text }) => createNoteRow(text));
}

/** Whether a line is a single quantity that is charged in full. */
function isSimpleLine({ explanation }: InvoiceLine): boolean {
  const parts = explanation !== undefined && "parts" in explanation ? explanation.parts : [];
  const [only, ...more] = parts;
  return only !== undefined && more.length === 0 && only.share.days === only.share.of && only.quantity !== undefined;
}

/** A sentence with its days in words: `10 × 15/30 days` is `10 for 15 of 30 days`, or `10 × 15/30` if the days were named before. */
function createNoteRow(text: string): PageRow {
  const label = text.replaceAll(/ × (\d+)\/(\d+) days/g, (_, days: string, of: string) => {
    const words = ` for ${days} of ${of} days`;
    return text.includes(words) ? ` × ${days}/${of}` : words;
  });
  return { kind: "note", label };
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

/** The title by invoice type. A one-off invoice charges an increase or what the end of a plan makes due (S13.1). */
export const INVOICE_TITLES: Readonly<Record<InvoiceType, string>> = {
  STANDARD: "Invoice",
  STANDARD_ADVANCED: "Invoice in advance",
  AD_HOC: "One-off invoice",
};
