/**
 * Invoices as CSV: one row a line item, in the order of the tree.
 *
 * @module
 */
import type { Invoice, InvoiceLine } from "../../invoicing/invoice.ts";
import { type Decimal, formatDecimal } from "../../numbers/decimal.ts";

/** The header of the CSV. */
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

/** The header line. */
export const CSV_HEADER = `${COLUMNS.join(",")}\r\n`;

/** One line of an invoice with where it is in the tree: `path` counts from 1 at each level, as in `1.2.1`. */
interface PlacedLine {
  readonly path: string;
  readonly level: number;
  readonly line: Partial<Omit<InvoiceLine, "type" | "lineItems">> & { readonly type: string };
}

/** The rows of an invoice, each with its line end; usage after the money. */
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
 * What a spreadsheet may run as a formula: it skips blanks before the sign, takes the wide forms of it too, and where it
 * splits cells at `;` or unwraps quotes by its own rules, what comes after these begins a cell.
 */
const FORMULA = /^[\s\p{Cc}\p{Cf};"']*[=+@\uff1d\uff0b\uff20\uff0d-]|^[\t\r]/u;
const PLAIN_NUMBER = /^-?[\d.]+$/;

/** A plain number stands as it is. A text that a spreadsheet would run as a formula is kept from it by an apostrophe. */
export function escapeCsvCell(text: string): string {
  const safe = FORMULA.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
