/** Invoices as CSV: one row per line item, in tree order. */
import type { Invoice, InvoiceLine } from "../../invoicing/invoice.ts";
import { type Decimal, formatDecimal } from "../../numbers/decimal.ts";

/** The columns. */
const COLUMNS = [
  "accountId",
  "customerId",
  "invoiceType",
  "status",
  "currency",
  "startDate",
  "endDate",
  "invoiceDate",
  "dueDate",
  "path",
  "level",
  "type",
  "id",
  "description",
  "quantity",
  "valuePerQuantity",
  "value",
  "exactValue",
] as const;

export const CSV_HEADER = `${COLUMNS.join(",")}\r\n`;

/** An invoice line and its position in the tree: `path` counts from 1 at each level, as in `1.2.1`. */
interface PlacedLine {
  readonly path: string;
  readonly level: number;
  readonly line: Partial<Omit<InvoiceLine, "type" | "lineItems">> & { readonly type: string };
}

/** The rows of an invoice with line ends; usage follows the amounts. */
export function formatInvoiceCsv(invoice: Invoice): string {
  const { accountId, customerId, invoiceType, status, currency, startDate, endDate, invoiceDate, dueDate } = invoice;
  const invoiceCells = [accountId, customerId, invoiceType, status, currency, startDate, endDate, invoiceDate, dueDate];
  return [...toPlacedLines(invoice.revenueInfo, "1"), ...toUsageLines(invoice)]
    .map(({ path, level, line }) =>
      [
        ...invoiceCells,
        path,
        String(level),
        line.type,
        line.id ?? "",
        line.description ?? "",
        formatNumberCell(line.quantity),
        formatNumberCell(line.valuePerQuantity),
        formatNumberCell(line.value),
        line.exactValue ?? formatNumberCell(line.value),
      ]
        .map(escapeCsvCell)
        .join(","),
    )
    .map((row) => `${row}\r\n`)
    .join("");
}

function toPlacedLines(line: InvoiceLine, path: string): readonly PlacedLine[] {
  const children = (line.lineItems ?? []).flatMap((item, index) => toPlacedLines(item, `${path}.${index + 1}`));
  return [{ path, level: path.split(".").length, line }, ...children];
}

function toUsageLines({ usageInfo }: Invoice): readonly PlacedLine[] {
  if (usageInfo === undefined) return [];
  const lines = usageInfo.lineItems.map((line, index) => ({ path: `2.${index + 1}`, level: 2, line }));
  return [{ path: "2", level: 1, line: { type: usageInfo.type } }, ...lines];
}

function formatNumberCell(value: Decimal | undefined): string {
  return value === undefined ? "" : formatDecimal(value);
}

/**
 * Text that a spreadsheet may execute as a formula, after any white space and in full-width forms, too. `;` and quotes
 * may start a new cell in some spreadsheets.
 */
const FORMULA = /^[\s\p{Cc}\p{Cf};"']*[=+@\uff1d\uff0b\uff20\uff0d-]|^[\t\r]/u;
const PLAIN_NUMBER = /^-?[\d.]+$/;

/** Escapes a cell, and quotes it if needed. */
export function escapeCsvCell(text: string): string {
  return quoteCsvCell(escapeFormula(text));
}

/** Prefixes text that a spreadsheet might execute as a formula with an apostrophe; plain numbers are unchanged. */
export function escapeFormula(text: string): string {
  return FORMULA.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text;
}

/** Quotes a cell if needed. */
export function quoteCsvCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
