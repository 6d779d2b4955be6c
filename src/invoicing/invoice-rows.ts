/**
 * An invoice as a person reads it: cards with their slabs below them, then sub-total, true-up, credits, total.
 *
 * @module
 */
import { minorUnitDigits } from "../numbers/currency.ts";
import type { RuleLink } from "../rulebook.ts";
import { type ExplanationText, itemTexts, partTexts } from "./explanation-text.ts";
import { groupedIn, moneyText, numberText } from "./figure-text.ts";
import type { Invoice, InvoiceLine, UsageLine } from "./invoice.ts";

/** One row of a printed invoice. */
export type InvoiceRow =
  /** The cells are the description, quantity, rate and amount. */
  | { readonly kind: "line"; readonly depth: number; readonly cells: readonly [string, string, string, string] }
  /** How the line above was made, as a sentence, and by which rules. */
  | { readonly kind: "text"; readonly depth: number; readonly text: string; readonly rules: readonly RuleLink[] }
  | { readonly kind: "rule" };

/** The rows of an invoice: its lines of money, then the usage that no line prices. */
export function invoiceRows(invoice: Invoice): readonly InvoiceRow[] {
  return [...moneyRows(invoice, minorUnitDigits(invoice.currency)), ...usageRows(invoice)];
}

/** The lines of money, in the order in which a bill is read. */
function moneyRows(invoice: Invoice, digits: number): readonly InvoiceRow[] {
  const rows: InvoiceRow[] = [];
  const money = (line: InvoiceLine): string => moneyText(line.value, digits);
  const total = (label: string, line: InvoiceLine): void => {
    rows.push({ kind: "line", depth: 0, cells: [label, "", "", money(line)] });
  };
  for (const line of findAll(invoice.revenueInfo, "SUB_TOTAL_AMOUNT")) {
    for (const card of line.lineItems ?? []) rows.push(...cardRows(card, 0, digits));
    rows.push({ kind: "rule" });
    total("Sub-total", line);
  }
  for (const line of findAll(invoice.revenueInfo, "TRUE_UP_AMOUNT")) {
    if (line.value.isZero()) continue;
    total(`True-up: ${line.description ?? "minimum commitment"}`, line);
    rows.push(...textRows(partTexts(line), 1));
  }
  for (const credits of findAll(invoice.revenueInfo, "TOTAL_CREDITS")) {
    for (const credit of credits.lineItems ?? []) total(`Credit: ${credit.description ?? credit.id ?? ""}`, credit);
  }
  rows.push({ kind: "rule" });
  rows.push({ kind: "line", depth: 0, cells: ["Total", "", invoice.currency, money(invoice.revenueInfo)] });
  return rows;
}

function cardRows(line: InvoiceLine, depth: number, digits: number): readonly InvoiceRow[] {
  const label = line.description ?? line.id ?? line.type;
  const own: InvoiceRow = {
    kind: "line",
    depth,
    cells: [
      line.type.endsWith("_SLAB_AMOUNT") ? groupedIn(label) : label,
      line.quantity === undefined ? "" : numberText(line.quantity),
      line.valuePerQuantity === undefined ? "" : numberText(line.valuePerQuantity),
      moneyText(line.value, digits),
    ],
  };
  const texts = itemTexts(line);
  return [
    own,
    ...textRows(partTexts(line), depth + 1),
    ...(line.lineItems ?? []).flatMap((item) => {
      const text = texts.get(item);
      return [...cardRows(item, depth + 1, digits), ...textRows(text === undefined ? [] : [text], depth + 2)];
    }),
  ];
}

function textRows(texts: readonly ExplanationText[], depth: number): readonly InvoiceRow[] {
  return texts.map((text): InvoiceRow => ({ kind: "text", depth, ...text }));
}

/** Meters whose usage no line above shows: metered, and not priced by a card. */
function usageRows(invoice: Invoice): readonly InvoiceRow[] {
  const priced = new Set(linesOf(invoice.revenueInfo).map((line) => line.id));
  const others = (invoice.usageInfo?.lineItems ?? []).filter((usage) => !priced.has(usage.id));
  if (others.length === 0) return [];
  return [
    { kind: "rule" },
    { kind: "line", depth: 0, cells: ["Usage that is not priced", "", "", ""] },
    ...others.map((usage: UsageLine): InvoiceRow => {
      return { kind: "line", depth: 1, cells: [usage.description, numberText(usage.quantity), "", ""] };
    }),
  ];
}

function findAll(line: InvoiceLine, type: InvoiceLine["type"]): readonly InvoiceLine[] {
  return linesOf(line).filter((found) => found.type === type || found.type === `ADVANCED_${type}`);
}

/** A line and all lines below it. */
function linesOf(line: InvoiceLine): readonly InvoiceLine[] {
  return [line, ...(line.lineItems ?? []).flatMap(linesOf)];
}
