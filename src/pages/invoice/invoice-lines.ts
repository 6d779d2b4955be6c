/**
 * The lines of an invoice as the one who pays it reads them: cards with their slabs in words, then what is added, paid
 * and due.
 *
 * @module
 */
import { describeItems, describeParts, slabsByLine } from "../../invoicing/explanation-text.ts";
import { formatMoney, formatNumber } from "../../invoicing/figure-text.ts";
import {
  type Invoice,
  type InvoiceLine,
  invoiceParts,
  type InvoiceStatus,
  type UsageLine,
} from "../../invoicing/invoice.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { type Decimal, greatest, ZERO } from "../../numbers/decimal.ts";
import type { SlabExplanation } from "../../rating/charge.ts";
import { slabLabels } from "../slab-words.ts";

/** A row of the table. */
export interface PageRow {
  readonly kind: "group" | "card" | "slab" | "note" | "sum" | "total";
  readonly label: string;
  readonly quantity?: string;
  readonly rate?: string;
  readonly amount?: string;
}

/** The amounts of an invoice that are paid and that are due. */
export interface Payment {
  readonly paid: Decimal;
  readonly due: Decimal;
}

/** The amount due of a total: nothing of a draft, of what a group's invoice shows, and of what is paid (S13.4, S16.7). */
export function paymentOf(status: InvoiceStatus, total: Decimal): Payment {
  switch (status) {
    case "DUE":
      return { paid: ZERO, due: total };
    case "PAID":
      return { paid: greatest(total, ZERO), due: ZERO };
    case "DRAFT":
    case "MERGED":
      return { paid: ZERO, due: ZERO };
  }
}

/** The rows of an invoice, one at a time: there may be tens of thousands. */
export function* pageRows(invoice: Invoice): Generator<PageRow> {
  const digits = minorUnitDigits(invoice.currency);
  const { revenueInfo, status } = invoice;
  const money = (amount: Decimal): string => formatMoney(amount, digits);
  const sum = (label: string, amount: Decimal): PageRow => ({ kind: "sum", label, amount: money(amount) });
  const { subTotals, trueUps, credits, unpriced } = invoiceParts(invoice);
  const { paid, due } = paymentOf(status, revenueInfo.value);
  for (const { lineItems = [] } of subTotals) for (const line of lineItems) yield* itemRows(line, digits);
  for (const { value } of subTotals) yield sum("Sub-total", value);
  for (const line of trueUps) {
    yield sum(line.description ?? "Minimum commitment", line.value);
    yield* notesOf(line);
  }
  for (const { description, id, value } of credits) yield sum(`Credit: ${description ?? id ?? ""}`, value);
  yield { kind: "total", label: `Total ${invoice.currency}`, amount: money(revenueInfo.value) };
  if (status === "DUE" || status === "PAID") {
    yield sum("Paid", paid);
    yield { kind: "total", label: `Due ${invoice.currency}`, amount: money(due) };
  }
  yield* unpricedRows(unpriced);
}

/** A card with what is below it, or cards with one tag. */
function* itemRows(line: InvoiceLine, digits: number): Generator<PageRow> {
  if (line.type !== "CUSTOM_TAG") return yield* cardRows(line, digits);
  yield { kind: "group", label: line.description ?? "", amount: formatMoney(line.value, digits) };
  for (const card of line.lineItems ?? []) yield* cardRows(card, digits);
}

function* cardRows(card: InvoiceLine, digits: number): Generator<PageRow> {
  const { lineItems = [], quantity, value } = card;
  const label = card.description ?? card.id ?? card.type;
  const own: PageRow = {
    kind: "card",
    label,
    ...(quantity === undefined ? {} : { quantity: formatNumber(quantity) }),
    amount: formatMoney(value, digits),
  };
  const [only, ...more] = lineItems;
  // One slab that says nothing but the card's own figures is written on the card's row.
  const isOnOneRow = only !== undefined && more.length === 0 && isWholeCard(only, card, slabsByLine(card).get(only));
  const rate = isOnOneRow && isPlain(card) ? only.valuePerQuantity : undefined;
  yield rate === undefined ? own : { ...own, rate: formatMoney(rate, digits) };
  yield* notesOf(card);
  const texts = describeItems(card);
  const labelFor = slabLabels(card);
  for (const item of lineItems) {
    if (!isOnOneRow) yield slabRow(item, labelFor(item), digits);
    const text = texts.get(item);
    if (text !== undefined) yield noteRow(text.text);
  }
}

/** Whether quantity × rate is the amount, of all units; a rate of packages or of a whole slab says of what it is. */
function isWholeCard(item: InvoiceLine, card: InvoiceLine, slab: SlabExplanation | undefined): boolean {
  const isOfAll = slab?.priceType === "PER_UNIT" && slab.startAfter.isZero();
  return isOfAll && item.value.eq(card.value) && item.quantity?.eq(card.quantity ?? ZERO) === true;
}

function slabRow({ quantity, valuePerQuantity, value }: InvoiceLine, label: string, digits: number): PageRow {
  return {
    kind: "slab",
    label,
    ...(quantity === undefined ? {} : { quantity: formatNumber(quantity) }),
    ...(valuePerQuantity === undefined ? {} : { rate: formatMoney(valuePerQuantity, digits) }),
    amount: formatMoney(value, digits),
  };
}

/** Sentences on how a line was made, where it is more than its quantity and rate say. */
function notesOf(line: InvoiceLine): readonly PageRow[] {
  return isPlain(line) ? [] : describeParts(line).map(({ text }) => noteRow(text));
}

/** Whether a line is one quantity, priced in full. */
function isPlain({ explanation }: InvoiceLine): boolean {
  const parts = explanation !== undefined && "parts" in explanation ? explanation.parts : [];
  const [only, ...more] = parts;
  return only !== undefined && more.length === 0 && only.share.days === only.share.of && only.quantity !== undefined;
}

/** A sentence with its days in words; days that it has named are not said again. */
function noteRow(text: string): PageRow {
  const label = text.replaceAll(/ × (\d+)\/(\d+) days/g, (_, days: string, of: string) => {
    const words = ` for ${days} of ${of} days`;
    return text.includes(words) ? ` × ${days}/${of}` : words;
  });
  return { kind: "note", label };
}

function unpricedRows(unpriced: readonly UsageLine[]): readonly PageRow[] {
  if (unpriced.length === 0) return [];
  return [
    { kind: "group", label: "Usage that is not priced" },
    ...unpriced.map(({ description, quantity }): PageRow => {
      return { kind: "slab", label: description, quantity: formatNumber(quantity) };
    }),
  ];
}
