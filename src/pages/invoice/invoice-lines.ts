/**
 * The lines of an invoice as the one who pays it reads them: cards with their slabs in words, then what is added, paid
 * and due.
 *
 * @module
 */
import { itemTexts, partTexts, slabsBehind } from "../../invoicing/explanation-text.ts";
import { moneyText, numberText } from "../../invoicing/figure-text.ts";
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
import { slabLineWords } from "../slab-words.ts";

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

/** The rows of an invoice. */
export function pageRows(invoice: Invoice): readonly PageRow[] {
  const digits = minorUnitDigits(invoice.currency);
  const { revenueInfo, status } = invoice;
  const money = (amount: Decimal): string => moneyText(amount, digits);
  const sum = (label: string, amount: Decimal): PageRow => ({ kind: "sum", label, amount: money(amount) });
  const { subTotals, trueUps, credits, unpriced } = invoiceParts(invoice);
  const { paid, due } = paymentOf(status, revenueInfo.value);
  return [
    ...subTotals.flatMap(({ lineItems = [] }) => lineItems.flatMap((line) => itemRows(line, digits))),
    ...subTotals.map(({ value }) => sum("Sub-total", value)),
    ...trueUps.flatMap((line) => [sum(line.description ?? "Minimum commitment", line.value), ...notesOf(line)]),
    ...credits.map(({ description, id, value }) => sum(`Credit: ${description ?? id ?? ""}`, value)),
    { kind: "total", label: `Total ${invoice.currency}`, amount: money(revenueInfo.value) },
    ...(status === "DUE" || status === "PAID"
      ? [sum("Paid", paid), { kind: "total" as const, label: `Due ${invoice.currency}`, amount: money(due) }]
      : []),
    ...unpricedRows(unpriced),
  ];
}

/** A card with what is below it, or cards with one tag. */
function itemRows(line: InvoiceLine, digits: number): readonly PageRow[] {
  if (line.type !== "CUSTOM_TAG") return cardRows(line, digits);
  const group: PageRow = { kind: "group", label: line.description ?? "", amount: moneyText(line.value, digits) };
  return [group, ...(line.lineItems ?? []).flatMap((card) => cardRows(card, digits))];
}

function cardRows(card: InvoiceLine, digits: number): readonly PageRow[] {
  const { lineItems = [], quantity, value } = card;
  const label = card.description ?? card.id ?? card.type;
  const own: PageRow = {
    kind: "card",
    label,
    ...(quantity === undefined ? {} : { quantity: numberText(quantity) }),
    amount: moneyText(value, digits),
  };
  const [only, ...more] = lineItems;
  const slabs = slabsBehind(card);
  // One slab that says nothing but the card's own figures is written on the card's row.
  if (only !== undefined && more.length === 0 && isWholeCard(only, card, slabs.get(only))) {
    const rate = isPlain(card) ? only.valuePerQuantity : undefined;
    const texts = [...notesOf(card), ...notesBelow(card, only)];
    return [{ ...own, ...(rate === undefined ? {} : { rate: moneyText(rate, digits) }) }, ...texts];
  }
  return [
    own,
    ...notesOf(card),
    ...lineItems.flatMap((item) => [slabRow(item, card, digits), ...notesBelow(card, item)]),
  ];
}

/** Whether quantity × rate is the amount, of all units; a rate of packages or of a whole slab says of what it is. */
function isWholeCard(item: InvoiceLine, card: InvoiceLine, slab: SlabExplanation | undefined): boolean {
  const isOfAll = slab?.priceType === "PER_UNIT" && slab.startAfter.isZero();
  return isOfAll && item.value.eq(card.value) && item.quantity?.eq(card.quantity ?? ZERO) === true;
}

function slabRow(item: InvoiceLine, card: InvoiceLine, digits: number): PageRow {
  const { quantity, valuePerQuantity, value } = item;
  return {
    kind: "slab",
    label: slabLineWords(item, card),
    ...(quantity === undefined ? {} : { quantity: numberText(quantity) }),
    ...(valuePerQuantity === undefined ? {} : { rate: moneyText(valuePerQuantity, digits) }),
    amount: moneyText(value, digits),
  };
}

/** Sentences on how a line was made, where it is more than its quantity and rate say. */
function notesOf(line: InvoiceLine): readonly PageRow[] {
  return isPlain(line) ? [] : partTexts(line).map(({ text }) => noteRow(text));
}

/** Whether a line is one quantity, priced in full. */
function isPlain({ explanation }: InvoiceLine): boolean {
  const parts = explanation !== undefined && "parts" in explanation ? explanation.parts : [];
  const [only, ...more] = parts;
  return only !== undefined && more.length === 0 && only.share.days === only.share.of && only.quantity !== undefined;
}

function notesBelow(card: InvoiceLine, item: InvoiceLine): readonly PageRow[] {
  const text = itemTexts(card).get(item);
  return text === undefined ? [] : [noteRow(text.text)];
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
      return { kind: "slab", label: description, quantity: numberText(quantity) };
    }),
  ];
}
