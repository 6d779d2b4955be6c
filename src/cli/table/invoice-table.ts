/** An invoice as a table and as CSV: cards with slabs, then sub-total, true-up, credits and total. */
import { formatDate, parseInstant } from "../../calendar/instant.ts";
import { formatPeriod, type InvoiceRow, invoiceRows } from "../../invoicing/invoice-rows.ts";
import type { Invoice, InvoiceLine } from "../../invoicing/invoice.ts";
import { type Decimal, formatDecimal } from "../../numbers/decimal.ts";
import { toPrintable } from "../../pages/printable.ts";
import { formatRuleLinks } from "../../rulebook.ts";
import { formatRows, type TableRow } from "./format-rows.ts";
import { PLAIN_STYLE, type TableStyle, wrapText } from "./table-style.ts";

const QUANTITY_WIDTH_MIN = 10;
const AMOUNT_WIDTH_MIN = 12;

/** Account data that an invoice lacks. */
export interface AccountLabel {
  readonly accountName: string | undefined;
}

/** The text of an invoice, ending with a line end. It is wider than the style only if a number needs it. */
export function formatInvoiceTable(
  invoice: Invoice,
  accountLabel: AccountLabel,
  style: TableStyle = PLAIN_STYLE,
): string {
  return [
    ...formatHeading(invoice, accountLabel, style),
    formatInvoiceRows(invoiceRows(invoice), ["", "Quantity", "Rate", invoice.currency], style),
    ...invoice.notices.map((notice) => wrapText(`Note: ${toSentence(notice)}`, style.width)),
    "",
  ].join("\n");
}

function formatHeading(invoice: Invoice, { accountName }: AccountLabel, style: TableStyle): readonly string[] {
  const { accountId, customerId, invoiceType, status, startDate, endDate, invoiceDate, dueDate } = invoice;
  const name = accountName === undefined || accountName === accountId ? accountId : `${accountName} (${accountId})`;
  const accountText = toPrintable(`${name}, customer ${customerId}`);
  return [
    style.emphasize("═".repeat(style.width), "faint"),
    ...wrapText(accountText, style.width, "  ")
      .split("\n")
      .map((line) => style.emphasize(line, "strong")),
    `${INVOICE_NAMES[invoiceType]} ${formatPeriod(startDate, endDate)} · ${status.toLowerCase()} · ${invoice.currency}`,
    wrapText(
      `Dated ${toDateText(invoiceDate)}, due ${toDateText(dueDate)}, ` +
        toPrintable(`plan ${invoice.pricePlanId} version ${invoice.pricePlanVersion}`),
      style.width,
      "  ",
    ),
  ];
}

const INVOICE_NAMES: Readonly<Record<Invoice["invoiceType"], string>> = {
  STANDARD: "Invoice for",
  STANDARD_ADVANCED: "Invoice in advance for",
  AD_HOC: "One-off invoice, within",
};

/** Numbers are right-aligned; descriptions are left-aligned and shortened to the remaining width. */
function formatInvoiceRows(
  rows: readonly InvoiceRow[],
  head: readonly [string, string, string, string],
  { width, emphasize }: TableStyle,
): string {
  const lines = rows.flatMap((row) => (row.kind === "line" ? [row] : []));
  const columnWidth = (column: 1 | 2 | 3, minimum: number): number =>
    lines.reduce((widest, { cells }) => Math.max(widest, cells[column].length), Math.max(minimum, head[column].length));
  const quantity = columnWidth(1, QUANTITY_WIDTH_MIN);
  const rate = columnWidth(2, QUANTITY_WIDTH_MIN);
  const amount = columnWidth(3, AMOUNT_WIDTH_MIN);
  const description = Math.max(24, width - quantity - rate - amount - 6);
  const widths = [description, quantity + 2, rate + 2, amount + 2];
  const rule = widths.map((width) => "─".repeat(width));
  const formatRow = (row: InvoiceRow): string => {
    switch (row.kind) {
      case "rule":
        return emphasize(formatRows([rule], widths), "faint");
      case "text":
        return emphasize(
          formatRows(
            [{ text: formatExplanation(row.depth, `${row.text} (${formatRuleLinks(row.rules)})`, width) }],
            widths,
          ),
          "faint",
        );
      case "line": {
        const cells: TableRow = [`${"  ".repeat(row.depth)}${toPrintable(row.cells[0])}`, ...row.cells.slice(1)];
        const line = formatRows([cells], widths);
        return row.cells[0] === "Total" && row.depth === 0 ? emphasize(line, "strong") : line;
      }
    }
  };
  return [formatRows([head], widths), emphasize(formatRows([rule], widths), "faint"), ...rows.map(formatRow)].join(
    "\n",
  );
}

function formatExplanation(depth: number, text: string, width: number): string {
  const indent = "  ".repeat(depth);
  return wrapText(`${indent}· ${toPrintable(text)}`, width, `${indent}  `);
}

/** Adds a capital letter and a full stop to a notice if missing. */
function toSentence(notice: string): string {
  const text = toPrintable(notice);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function toDateText(instant: string): string {
  return formatDate(parseInstant(instant));
}

export const CSV_HEADER =
  "accountId,customerId,invoiceType,status,currency,startDate,endDate,invoiceDate,dueDate,path,level,type,id,description,quantity,valuePerQuantity,value,exactValue\r\n";

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
    .map(({ path, level, line }) => {
      const { type, id, description, quantity, valuePerQuantity, value, exactValue = value } = line;
      const lineCells = [path, String(level), type, id, description, quantity, valuePerQuantity, value, exactValue];
      return formatCsvRow([...invoiceCells, ...lineCells]);
    })
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

/** A row with its line end; a missing value is an empty cell. */
export function formatCsvRow(cells: readonly (string | Decimal | undefined)[]): string {
  const texts = cells.map((cell = "") =>
    typeof cell === "string" ? quoteCsvCell(escapeFormula(cell)) : formatDecimal(cell),
  );
  return `${texts.join(",")}\r\n`;
}

/**
 * Text that a spreadsheet may execute as a formula, after any white space and in full-width forms, too. `;` and quotes
 * may start a new cell in some spreadsheets.
 */
const FORMULA = /^[\s\p{Cc}\p{Cf};"']*[=+@\uff1d\uff0b\uff20\uff0d-]|^[\t\r]/u;
const PLAIN_NUMBER = /^-?[\d.]+$/;

/** Prefixes text that a spreadsheet might execute as a formula with an apostrophe; plain numbers are unchanged. */
export function escapeFormula(text: string): string {
  return FORMULA.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text;
}

/** Quotes a cell if needed. */
export function quoteCsvCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
