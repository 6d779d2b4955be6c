/**
 * An invoice for people: cards with their slabs, then sub-total, true-up, credits, total.
 *
 * @module
 */
import { minorUnitDigits } from "../numbers/currency.ts";
import type { RuleLink } from "../rulebook.ts";
import { type ExplanationText, createItemDescriber, describeParts, slabsByLine } from "./explanation-text.ts";
import { groupThousandsIn, formatMoney, formatNumber } from "./format-values.ts";
import { type Invoice, type InvoiceLine, invoiceParts, type UsageLine } from "./invoice.ts";

/** One row of a printed invoice. */
export type InvoiceRow =
  /** The cells are the description, quantity, rate and amount. */
  | { readonly kind: "line"; readonly depth: number; readonly cells: readonly [string, string, string, string] }
  /** How the line above was computed, as a sentence with its rules. */
  | { readonly kind: "text"; readonly depth: number; readonly text: string; readonly rules: readonly RuleLink[] }
  | { readonly kind: "rule" };

/** The rows of an invoice: its lines, then the usage without a price. */
export function invoiceRows(invoice: Invoice): readonly InvoiceRow[] {
  const { revenueInfo, currency } = invoice;
  const digits = minorUnitDigits(currency);
  const { subTotals, trueUps, credits, unpriced } = invoiceParts(invoice);
  const total = (label: string, { value }: InvoiceLine, unit = ""): InvoiceRow => {
    return { kind: "line", depth: 0, cells: [label, "", unit, formatMoney(value, digits)] };
  };
  return [
    ...subTotals.flatMap((line): InvoiceRow[] => [
      ...(line.lineItems ?? []).flatMap((card) => cardRows(card, 0, digits)),
      { kind: "rule" },
      total("Sub-total", line),
    ]),
    ...trueUps.flatMap((line) => [
      total(`True-up: ${line.description ?? "minimum commitment"}`, line),
      ...textRows(describeParts(line), 1),
    ]),
    ...credits.map((credit) => total(`Credit: ${credit.description ?? credit.id ?? ""}`, credit)),
    { kind: "rule" },
    total("Total", revenueInfo, currency),
    ...unpricedRows(unpriced),
  ];
}

function cardRows(line: InvoiceLine, depth: number, digits: number): readonly InvoiceRow[] {
  const label = line.description ?? line.id ?? line.type;
  const cardRow: InvoiceRow = {
    kind: "line",
    depth,
    cells: [
      line.type.endsWith("_SLAB_AMOUNT") ? groupThousandsIn(label) : label,
      line.quantity === undefined ? "" : formatNumber(line.quantity),
      line.valuePerQuantity === undefined ? "" : formatNumber(line.valuePerQuantity),
      formatMoney(line.value, digits),
    ],
  };
  const describeItem = createItemDescriber(line, slabsByLine(line));
  return [
    cardRow,
    ...textRows(describeParts(line), depth + 1),
    ...(line.lineItems ?? []).flatMap((item) => {
      const text = describeItem(item);
      return [...cardRows(item, depth + 1, digits), ...textRows(text === undefined ? [] : [text], depth + 2)];
    }),
  ];
}

function textRows(texts: readonly ExplanationText[], depth: number): readonly InvoiceRow[] {
  return texts.map((text): InvoiceRow => ({ kind: "text", depth, ...text }));
}

function unpricedRows(unpriced: readonly UsageLine[]): readonly InvoiceRow[] {
  if (unpriced.length === 0) return [];
  return [
    { kind: "rule" },
    { kind: "line", depth: 0, cells: ["Usage without a price", "", "", ""] },
    ...unpriced.map(({ description, quantity }): InvoiceRow => {
      return { kind: "line", depth: 1, cells: [description, formatNumber(quantity), "", ""] };
    }),
  ];
}
