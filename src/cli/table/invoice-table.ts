/**
 * An invoice as a table made for reading: cards with their slabs below them, then sub-total, true-up, credits, total.
 *
 * @module
 */
import { parseInstant, formatDate } from "../../calendar/instant.ts";
import { formatPeriod } from "../../invoicing/figure-text.ts";
import { type InvoiceRow, invoiceRows } from "../../invoicing/invoice-rows.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import { printable } from "../../pages/printable.ts";
import { ruleLinksText } from "../../rulebook.ts";
import { linesOfRows, type TableRow } from "./columns.ts";
import { PLAIN_STYLE, type TableStyle } from "./style.ts";
import { wrapped } from "./wrapped.ts";

const QUANTITY_WIDTH_MIN = 10;
const AMOUNT_WIDTH_MIN = 12;

/** Facts on the account that its invoice lacks. */
export interface InvoiceFace {
  readonly accountName: string | undefined;
}

/** The text of an invoice, ending in a line end; as wide as the style says unless a number needs more. */
export function invoiceTable(invoice: Invoice, face: InvoiceFace, style: TableStyle = PLAIN_STYLE): string {
  return [
    ...headingOf(invoice, face, style),
    layOut(invoiceRows(invoice), ["", "Quantity", "Rate", invoice.currency], style),
    ...invoice.notices.map((notice) => wrapped(`Note: ${sentence(notice)}`, style.width)),
    "",
  ].join("\n");
}

function headingOf(invoice: Invoice, { accountName }: InvoiceFace, style: TableStyle): readonly string[] {
  const { accountId, customerId, invoiceType, status, startDate, endDate, invoiceDate, dueDate } = invoice;
  const name = accountName === undefined || accountName === accountId ? accountId : `${accountName} (${accountId})`;
  const who = printable(`${name}, customer ${customerId}`);
  return [
    style.emphasize("═".repeat(style.width), "faint"),
    ...wrapped(who, style.width, "  ")
      .split("\n")
      .map((line) => style.emphasize(line, "strong")),
    `${INVOICE_NAMES[invoiceType]} ${formatPeriod(startDate, endDate)} · ${status} · ${invoice.currency}`,
    wrapped(
      `${invoiceType}, dated ${dateOf(invoiceDate)}, due ${dateOf(dueDate)}, ` +
        printable(`plan ${invoice.pricePlanId} version ${invoice.pricePlanVersion}`),
      style.width,
      "  ",
    ),
  ];
}

const INVOICE_NAMES: Readonly<Record<Invoice["invoiceType"], string>> = {
  STANDARD: "Invoice for",
  STANDARD_ADVANCED: "Invoice in advance for",
  AD_HOC: "Invoice at once, within",
};

/** Numbers right, descriptions left and cut to what is left of the width. */
function layOut(
  rows: readonly InvoiceRow[],
  head: readonly [string, string, string, string],
  { width, emphasize }: TableStyle,
): string {
  const lines = rows.flatMap((row) => (row.kind === "line" ? [row] : []));
  const widthOf = (column: 1 | 2 | 3, least: number): number =>
    lines.reduce((widest, { cells }) => Math.max(widest, cells[column].length), Math.max(least, head[column].length));
  const quantity = widthOf(1, QUANTITY_WIDTH_MIN);
  const rate = widthOf(2, QUANTITY_WIDTH_MIN);
  const amount = widthOf(3, AMOUNT_WIDTH_MIN);
  const description = Math.max(24, width - quantity - rate - amount - 6);
  const widths = [description, quantity + 2, rate + 2, amount + 2];
  const rule = widths.map((width) => "─".repeat(width));
  const lineOf = (row: InvoiceRow): string => {
    switch (row.kind) {
      case "rule":
        return emphasize(linesOfRows([rule], widths), "faint");
      case "text":
        return emphasize(
          linesOfRows([{ text: sentenceAt(row.depth, `${row.text} (${ruleLinksText(row.rules)})`, width) }], widths),
          "faint",
        );
      case "line": {
        const cells: TableRow = [`${"  ".repeat(row.depth)}${printable(row.cells[0])}`, ...row.cells.slice(1)];
        const line = linesOfRows([cells], widths);
        return row.cells[0] === "Total" && row.depth === 0 ? emphasize(line, "strong") : line;
      }
    }
  };
  return [linesOfRows([head], widths), emphasize(linesOfRows([rule], widths), "faint"), ...rows.map(lineOf)].join("\n");
}

function sentenceAt(depth: number, text: string, width: number): string {
  const indent = "  ".repeat(depth);
  return wrapped(`${indent}· ${printable(text)}`, width, `${indent}  `);
}

/** A sentence from a notice, which may lack its capital and its stop. */
function sentence(notice: string): string {
  const text = printable(notice);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function dateOf(instant: string): string {
  return formatDate(parseInstant(instant));
}
