/**
 * An invoice as a table made for reading: cards with their slabs below them, then sub-total, true-up, credits, total.
 *
 * @module
 */
import { parseInstant } from "../../calendar/instant.ts";
import { dayText, periodText } from "../../invoicing/figure-text.ts";
import { type InvoiceRow, invoiceRows } from "../../invoicing/invoice-rows.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import { ruleLinksText } from "../../rulebook.ts";
import { linesOfRows, type TableRow } from "./columns.ts";
import { printable } from "./printable.ts";

/** Columns of a terminal that a table fits in. */
const WIDTH = 100;
const QUANTITY_WIDTH_MIN = 10;
const AMOUNT_WIDTH_MIN = 12;

/** What is known of the account beside its invoice. */
export interface InvoiceFace {
  readonly accountName: string | undefined;
}

/** The text of an invoice, ending in a line end; at most 100 columns wide unless a number needs more. */
export function invoiceTable(invoice: Invoice, face: InvoiceFace): string {
  return [
    ...headingOf(invoice, face),
    layOut(invoiceRows(invoice), ["", "Quantity", "Rate", invoice.currency]),
    ...invoice.notices.map((notice) => wrapped(`Note: ${sentence(notice)}`)),
    "",
  ].join("\n");
}

function headingOf(invoice: Invoice, { accountName }: InvoiceFace): readonly string[] {
  const { accountId, customerId, invoiceType, status, startDate, endDate, invoiceDate, dueDate } = invoice;
  const name = accountName === undefined || accountName === accountId ? accountId : `${accountName} (${accountId})`;
  const who = printable(`${name}, customer ${customerId}`);
  return [
    "═".repeat(WIDTH),
    who,
    `${INVOICE_NAMES[invoiceType]} ${periodText(startDate, endDate)} · ${status} · ${invoice.currency}`,
    `${invoiceType}, dated ${dateOf(invoiceDate)}, due ${dateOf(dueDate)}, ` +
      printable(`plan ${invoice.pricePlanId} version ${invoice.pricePlanVersion}`),
  ];
}

const INVOICE_NAMES: Readonly<Record<Invoice["invoiceType"], string>> = {
  STANDARD: "Invoice for",
  STANDARD_ADVANCED: "Invoice in advance for",
  AD_HOC: "Invoice at once, within",
};

/** Numbers right, descriptions left and cut to what is left of the width. */
function layOut(rows: readonly InvoiceRow[], head: readonly [string, string, string, string]): string {
  const lines = rows.flatMap((row) => (row.kind === "line" ? [row] : []));
  const widthOf = (column: 1 | 2 | 3, least: number): number =>
    lines.reduce((width, { cells }) => Math.max(width, cells[column].length), Math.max(least, head[column].length));
  const quantity = widthOf(1, QUANTITY_WIDTH_MIN);
  const rate = widthOf(2, QUANTITY_WIDTH_MIN);
  const amount = widthOf(3, AMOUNT_WIDTH_MIN);
  const description = Math.max(24, WIDTH - quantity - rate - amount - 6);
  const widths = [description, quantity + 2, rate + 2, amount + 2];
  const rule = widths.map((width) => "─".repeat(width));
  const cells = rows.map((row): TableRow => {
    if (row.kind === "rule") return rule;
    if (row.kind === "text") return { text: sentenceAt(row.depth, `${row.text} (${ruleLinksText(row.rules)})`) };
    return [`${"  ".repeat(row.depth)}${printable(row.cells[0])}`, ...row.cells.slice(1)];
  });
  return linesOfRows([head, rule, ...cells], widths);
}

function sentenceAt(depth: number, text: string): string {
  const indent = "  ".repeat(depth);
  return wrapped(`${indent}· ${printable(text)}`, `${indent}  `);
}

/** A sentence from a notice, which may lack its capital and its stop. */
function sentence(notice: string): string {
  const text = printable(notice);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Breaks a text into lines of at most the table's width. */
function wrapped(text: string, indent = "      "): string {
  const lines: string[] = [];
  let line = /^ */.exec(text)?.[0] ?? "";
  for (const word of text.trim().split(" ")) {
    if (line.trim() !== "" && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = indent;
    }
    line = line.trim() === "" ? `${line}${word}` : `${line} ${word}`;
  }
  return [...lines, line].join("\n");
}

function dateOf(instant: string): string {
  return dayText(parseInstant(instant));
}
