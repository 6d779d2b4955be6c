/** Renders an invoice as plain HTML to print or send: escaped text, no scripts, nothing loaded. */
import { createHash } from "node:crypto";

import { formatInstant, type Instant, parseInstant } from "../../calendar/instant.ts";
import { formatMoney } from "../../invoicing/format-values.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import type { Decimal } from "../../numbers/decimal.ts";
import { escapeHtml } from "../printable.ts";
import {
  computePayment,
  createPageRows,
  type PageRow,
  formatInvoiceNumber,
  formatLongDate,
  formatLongPeriod,
  INVOICE_TITLES,
} from "./invoice-lines.ts";

/** The style sheet. In print no row is split, and drafts have a watermark on every sheet. */
const INVOICE_STYLE = `
:root { color-scheme: light dark; --ink: #1d2433; --soft: #5b6475; --line: #c9cfda; --paper: #fff; --mark: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9f0; --soft: #a3acbd; --line: #3b4557; --paper: #12161f; --mark: #ff9c93; } }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; color: var(--ink); background: var(--paper); max-width: 52rem; margin: 0 auto; padding: 2.5rem 1.5rem; }
header { display: flex; justify-content: space-between; align-items: flex-start; gap: 1.5rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0; }
h2 { font-size: .8rem; font-weight: 600; color: var(--soft); margin: 0 0 .25rem; }
.logo { max-width: 12rem; max-height: 4.5rem; }
.parties { display: flex; flex-wrap: wrap; gap: 1.5rem 4rem; margin: 1.75rem 0; }
.parties > div { flex: 1 1 14rem; min-width: 0; }
address { font-style: normal; overflow-wrap: anywhere; }
address span:first-child { font-weight: 600; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(11rem, 1fr)); gap: .9rem 1.5rem; margin: 0 0 1.5rem; padding: 1rem 0; border: solid var(--line); border-width: 1px 0; }
dt { color: var(--soft); font-size: .8rem; }
dd { margin: 0; overflow-wrap: anywhere; }
dl div:first-child dd { white-space: nowrap; }
.status { font-size: 1.15rem; font-weight: 600; margin: 0 0 1.5rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: right; font-weight: normal; padding: .3rem 0 .3rem 1rem; vertical-align: top; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
th[scope=row], td[colspan] { text-align: left; padding-left: 0; }
thead th { color: var(--soft); font-size: .8rem; }
thead td { padding: 0; }
tr.card > *, tr.group > * { border-top: 1px solid var(--line); padding-top: .5rem; }
tr.group th, tr.card th { font-weight: 600; }
tr:is(.slab, .subtotal) th { padding-left: 1.25rem; }
tr.item th { padding-left: 2.5rem; }
tr:is(.slab, .item) th { color: var(--soft); }
tr.note td { padding-left: 1.25rem; padding-top: 0; color: var(--soft); font-size: .85rem; }
tr.sum > * { padding-top: .2rem; padding-bottom: .2rem; }
tr:not(.sum, .total) + tr.sum > *, tr.total > * { border-top: 1px solid var(--line); }
tr.total > * { font-weight: 700; font-size: 1.05rem; }
.notices { padding: .75rem 1rem .75rem 2rem; border-left: 3px solid var(--mark); margin: 1.5rem 0 0; }
.notes { margin-top: 1.75rem; overflow-wrap: anywhere; }
footer { margin-top: 2.5rem; color: var(--soft); font-size: .75rem; overflow-wrap: anywhere; }
.draft { position: fixed; inset: 0; display: flex; align-items: center; justify-content: center; font-size: min(26vw, 14rem); font-weight: 800; letter-spacing: .05em; color: var(--mark); opacity: .1; transform: rotate(-28deg); pointer-events: none; overflow: hidden; }
.draft::before { content: "Draft"; }
@media (max-width: 36rem) {
  body { padding: 1.25rem 1rem; }
  h1 { font-size: 1.5rem; }
  .logo { max-width: 8rem; max-height: 3rem; }
  dl { grid-template-columns: 1fr 1fr; }
  table, thead, tbody { display: block; }
  thead { display: none; }
  tr { display: grid; grid-template-columns: auto 1fr auto; gap: 0 .4rem; padding: .3rem 0; }
  tr.card, tr.group, tr.total { border-top: 1px solid var(--line); }
  tr:not(.sum, .total) + tr.sum { border-top: 1px solid var(--line); }
  tr > *, tr.card > *, tr.group > *, tr.sum > *, tr.total > *, tr:not(.sum, .total) + tr.sum > *, tr.note td { padding: 0; border: 0; }
  tr > th[scope=row] { grid-column: 1 / -1; }
  tr > td[colspan] { grid-column: 1 / -1; }
  tr:has(> td:nth-of-type(2):empty):has(> td:nth-of-type(1):empty) > th[scope=row] { grid-column: 1 / 3; }
  tr:has(> td:nth-of-type(2):empty):has(> td:nth-of-type(1):empty) > td:empty { display: none; }
  tr:is(.slab, .subtotal, .note) { padding-left: .9rem; }
  tr.item { padding-left: 1.8rem; }
  tr:is(.slab, .subtotal, .item) th { padding-left: 0; }
  tr td:nth-of-type(1), tr td:nth-of-type(2) { text-align: left; }
  tr td:nth-of-type(2):not(:empty)::before { content: "× "; color: var(--soft); }
}
.parties:empty { margin: 1rem 0; }
@page { margin: 14mm 15mm; }
@media print {
  :root { color-scheme: light; font-size: 10.67pt; --ink: #000; --soft: #444; --line: #999; --paper: #fff; --mark: #b3261e; }
  body { max-width: none; padding: 0; font-size: 10pt; line-height: 1.4; }
  .parties { margin: 1.25rem 0; }
  dl, .status { margin-bottom: 1rem; }
  .notes, footer { margin-top: 1rem; }
  tr, dl, .parties, .notices, .notes, footer { break-inside: avoid; }
  thead { display: table-header-group; }
  tr.note, tr.total, tr.sum { break-before: avoid; }
  tr.card:has(+ tr:is(.slab, .subtotal)), tr.subtotal, tr.group { break-after: avoid; }
}
`;

/** The content security policy: only the page's own style and an embedded image. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(INVOICE_STYLE).digest("base64")}'`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The seller, the buyer, and the seller's fixed texts. */
export interface InvoiceLetter {
  /** Name, address and so on, one line each; empty if unknown. */
  readonly seller: readonly string[];
  /** The same for the buyer. */
  readonly buyer: readonly string[];
  /** An image as a data URI. Invalid ones are not shown. */
  readonly logo?: string | undefined;
  /** Payment instructions and so on; line breaks are preserved. */
  readonly notes?: string | undefined;
  /** The buyer's order reference. */
  readonly reference?: string | undefined;
}

/** An invoice and the names that its ids stand for. */
interface InvoicePageInput {
  readonly id: string;
  readonly invoice: Invoice;
  readonly account: string;
  readonly pricePlan: string;
  /** The number of the group's invoice that contains it. */
  readonly mergedInto?: string | undefined;
}

/**
 * Renders an invoice for its recipient, without plan ids and links to rules.
 *
 * @returns the page in pieces of at most one row, because an invoice may have tens of thousands
 */
export function renderInvoicePage(
  { id, invoice, account, pricePlan, mergedInto }: InvoicePageInput,
  letter: InvoiceLetter,
): Generator<string> {
  const { invoiceType, status, startDate, endDate, invoiceDate, dueDate, currency, revenueInfo, notices } = invoice;
  const isDraft = status === "DRAFT";
  const due = computePayment(status, revenueInfo.value).amountDue;
  const statusText = {
    DRAFT: "This is a draft. It can still change, and nothing is due yet.",
    DUE: `${formatAmountWithCurrency(due, currency)} due by ${formatLongDate(parseInstant(dueDate))}.`,
    PAID: "Paid. Nothing is due.",
    MERGED: `Part of the invoice ${mergedInto ?? "of the group"}: pay that one.`,
  }[status];
  return renderPage({
    title: isDraft ? `Draft ${INVOICE_TITLES[invoiceType].toLowerCase()}` : INVOICE_TITLES[invoiceType],
    isDraft,
    letter,
    facts: [
      ["Number", formatInvoiceNumber(id, invoiceDate)],
      ["Date", formatLongDate(parseInstant(invoiceDate))],
      ...(isDraft || status === "MERGED" ? [] : [["Due", formatLongDate(parseInstant(dueDate))] as const]),
      ["Period", formatLongPeriod(startDate, endDate)],
      ["Account", account],
      ["Plan", pricePlan],
    ],
    statusText,
    columns: ["", "Quantity", "Rate", currency],
    rows: createPageRows(invoice),
    notices,
    id,
  });
}

/** A group's invoice. */
interface CompositePageInput {
  readonly id: string;
  readonly group: string;
  readonly currency: string;
  readonly invoiceDate: Instant;
  readonly dueDate: Instant;
  readonly total: Decimal;
  /** The invoices in it, each with the name of its account. */
  readonly invoices: readonly { readonly number: string; readonly account: string; readonly total: Decimal }[];
}

/** Renders a composite invoice in pieces: the invoices in it, with accounts and numbers. */
export function renderCompositePage(composite: CompositePageInput, letter: InvoiceLetter): Generator<string> {
  const { id, group, currency, invoiceDate, dueDate, total } = composite;
  return renderPage({
    title: "Invoice",
    isDraft: false,
    letter,
    facts: [
      ["Number", formatInvoiceNumber(id, formatInstant(invoiceDate))],
      ["Date", formatLongDate(invoiceDate)],
      ["Due", formatLongDate(dueDate)],
      ["Group", group],
    ],
    statusText: `${formatAmountWithCurrency(total, currency)} due by ${formatLongDate(dueDate)}.`,
    columns: ["Account", "", "", currency],
    rows: createCompositeRows(composite),
    notices: [],
    id,
  });
}

function* createCompositeRows({ invoices, currency, total }: CompositePageInput): Generator<PageRow> {
  const digits = minorUnitDigits(currency);
  for (const { number, account, total: amount } of invoices) {
    yield { kind: "card", label: account, amount: formatMoney(amount, digits) };
    yield { kind: "note", label: `Invoice ${number}` };
  }
  yield { kind: "total", label: `Total ${currency}`, amount: formatMoney(total, digits) };
}

function formatAmountWithCurrency(amount: Decimal, currency: string): string {
  return `${formatMoney(amount, minorUnitDigits(currency))} ${currency}`;
}

interface PageContent {
  readonly title: string;
  readonly isDraft: boolean;
  readonly letter: InvoiceLetter;
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly statusText: string;
  readonly columns: readonly [string, string, string, string];
  readonly rows: Iterable<PageRow>;
  readonly notices: readonly string[];
  readonly id: string;
}

function* renderPage({
  title,
  isDraft,
  letter,
  facts,
  statusText,
  columns,
  rows,
  notices,
  id,
}: PageContent): Generator<string> {
  const { seller, buyer, notes, reference } = letter;
  const logo = parseLogo(letter.logo);
  const allFacts = reference === undefined ? facts : [...facts, ["Your reference", reference] as const];
  const list = allFacts
    .map(([name, value]) => `<div><dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd></div>`)
    .join("");
  yield [
    `<!doctype html>`,
    `<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">`,
    `<meta name="color-scheme" content="light dark"><title>${escapeHtml(`${title} ${facts[0]?.[1] ?? ""}`)}</title>`,
    `<style>${INVOICE_STYLE}</style></head>`,
    `<body>${isDraft ? `<div class="draft" aria-hidden="true"></div>` : ""}`,
    `<header><h1>${escapeHtml(title)}</h1>`,
    logo === undefined ? "" : `<img class="logo" alt="${escapeHtml(seller[0] ?? "Logo")}" src="${logo}">`,
    `</header><main><section class="parties">${renderParty("From", seller)}${renderParty("To", buyer)}</section>`,
    `<dl>${list}</dl><p class="status">${escapeHtml(statusText)}</p>`,
  ].join("\n");
  const head = columns.map((name) => (name === "" ? "<td></td>" : `<th scope="col">${escapeHtml(name)}</th>`)).join("");
  yield `<table><thead><tr>${head}</tr></thead><tbody>`;
  for (const row of rows) yield renderRow(row);
  yield `</tbody></table>\n`;
  if (notices.length > 0) yield `<ul class="notices">`;
  for (const notice of notices) yield `<li>${escapeHtml(notice)}</li>`;
  if (notices.length > 0) yield `</ul>`;
  yield [
    "",
    notes === undefined ? "" : `<section class="notes">${renderLines(notes.split("\n"))}</section>`,
    `</main><footer>${escapeHtml(id)}</footer></body></html>`,
    "",
  ].join("\n");
}

function renderParty(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `<div><h2>${title}</h2><address>${renderLines(lines)}</address></div>`;
}

function renderLines(lines: readonly string[]): string {
  return lines.map((line) => `<span>${escapeHtml(line)}</span>`).join("<br>");
}

function renderRow({ kind, label, quantity, rate, amount }: PageRow): string {
  if (kind === "note") return `<tr class="note"><td colspan="4">${escapeHtml(label)}</td></tr>`;
  const figures = [quantity, rate, amount].map((figure) => `<td>${escapeHtml(figure ?? "")}</td>`).join("");
  return `<tr class="${kind}"><th scope="row">${escapeHtml(label)}</th>${figures}</tr>`;
}

/** The maximum length of a data URI in characters, which is about 190 kB of image data. */
export const LOGO_LENGTH_MAX = 256 * 1024;

/** The start of each image type in base64. */
const SIGNATURES: Readonly<Record<string, RegExp>> = {
  png: /^iVBORw0KGgo/,
  jpeg: /^\/9j\//,
  gif: /^R0lGOD[dl]h/,
  webp: /^UklGR[\w+/]{6}XRUJQ/,
};

/** The logo if it is a PNG, JPEG, GIF or WebP, by type and content, and not too long; otherwise undefined. */
export function parseLogo(value: string | undefined): string | undefined {
  if (value === undefined || value.length > LOGO_LENGTH_MAX) return undefined;
  const [, type = "", content = ""] =
    /^data:image\/(png|jpeg|gif|webp);base64,([A-Za-z0-9+/]+={0,2})$/.exec(value.trim()) ?? [];
  return SIGNATURES[type]?.test(content) === true ? `data:image/${type};base64,${content}` : undefined;
}
