/** Reads invoices line by line, to compare them with independently calculated figures. */
import type { Invoice, InvoiceLine } from "../../src/index.ts";

/** A line and its depth in the tree; the total has depth 0. */
export interface PlacedLine {
  readonly line: InvoiceLine;
  readonly depth: number;
}

/** Every line of a tree, each before the lines under it. */
export function flattenLines(line: InvoiceLine, depth = 0): readonly PlacedLine[] {
  return [{ line, depth }, ...(line.lineItems ?? []).flatMap((item) => flattenLines(item, depth + 1))];
}

/** The lines of one type. */
export function linesOfType(invoice: Invoice, type: InvoiceLine["type"]): readonly InvoiceLine[] {
  return flattenLines(invoice.revenueInfo).flatMap(({ line }) => (line.type === type ? [line] : []));
}

/** An invoice in one line: `STANDARD 2024-06-01/2024-07-01 on 2024-07-01`. */
export function headOf({ invoiceType, startDate, endDate, invoiceDate }: Invoice): string {
  return `${invoiceType} ${toDate(startDate)}/${toDate(endDate)} on ${toDate(invoiceDate)}`;
}

/** Only the date if an instant is a midnight. */
function toDate(moment: string): string {
  return moment.replace(/T00:00:00\.000Z$/, "");
}

/** Types of lines that only group others: their value is the sum of the lines right below. */
const WRAPPERS = new Set(["GROSS_AMOUNT", "PRICE_PLAN_AMOUNT", "NET_AMOUNT", "TOTAL_CREDITS"]);

/**
 * An invoice as text for golden files: cards with their slabs indented, then true-up, credits and total. A line is
 * `type id: quantity at rate = value (exactly x)`; missing parts are omitted, and an exact value of more than ten
 * decimals is cut there and marked by `…`.
 */
export function compactLines({ revenueInfo }: Invoice): readonly string[] {
  const visibleLines = flattenLines(revenueInfo).filter(({ line }) => !WRAPPERS.has(line.type));
  const cards = visibleLines.filter(
    ({ line }) => !/^(TOTAL_AMOUNT|SUB_TOTAL_AMOUNT|SUB_CREDITS|TRUE_UP_AMOUNT)$/.test(line.type),
  );
  const base = Math.min(...cards.map(({ depth }) => depth));
  const texts = cards.map(({ line, depth }) => "  ".repeat(depth - base) + compactLine(line));
  const ofType = (type: string): string[] =>
    visibleLines.filter(({ line }) => line.type === type).map(({ line }) => compactLine(line));
  return [...texts, ...["SUB_TOTAL_AMOUNT", "TRUE_UP_AMOUNT", "SUB_CREDITS", "TOTAL_AMOUNT"].flatMap(ofType)];
}

function compactLine({ type, id, description, value, exactValue, quantity, valuePerQuantity }: InvoiceLine): string {
  const name = type === "CUSTOM_TAG" || type === "SUB_CREDITS" ? description : id;
  const units = quantity === undefined ? "" : `: ${quantity.toFixed()}`;
  const rate = valuePerQuantity === undefined ? "" : ` at ${valuePerQuantity.toFixed()}`;
  const exact = exactValue === undefined ? "" : ` (exactly ${exactValue.replace(/(\.\d{10})\d+$/, "$1…")})`;
  return `${type}${name === undefined ? "" : ` ${name}`}${units}${rate} = ${value.toFixed()}${exact}`;
}
