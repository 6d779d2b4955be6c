/** Renders invoices as plain HTML to print or send: escaped text, no scripts, nothing loaded. */
import type { Invoice } from "../../invoicing/invoice.ts";
import { sha256Base64 } from "../../numbers/ids.ts";
import { escapeHtml, toPrintable } from "../printable.ts";
import { buildPageTokens } from "../tokens.ts";
import { checkInvoiceDetails, type InvoiceDetails, type InvoiceParty } from "./invoice-details.ts";
import type { PageRow } from "./invoice-lines.ts";
import { createInvoiceSheet, type InvoiceSheet } from "./invoice-sheet.ts";
import type { InvoiceTexts } from "./invoice-texts.ts";

/**
 * Renders an invoice as a complete HTML page, to send or print on A4 or Letter. The page has no scripts and loads
 * nothing; its policy forbids both. All texts are escaped.
 *
 * @param invoice of {@link preview} or of an engine; with explanations, tiers are named in the invoice's language
 * @throws {RatebookError} ERR_OPTION_INVALID with the path of the first invalid detail, or if `invoice` is not one
 */
export function renderInvoice(invoice: Invoice, details: InvoiceDetails = {}): string {
  const sheet = createInvoiceSheet(invoice, checkInvoiceDetails(details));
  return [...renderSheets([sheet]).pieces].join("");
}

/** A page in pieces of at most one row, because an invoice may have tens of thousands. */
export interface PiecedPage {
  /** The content security policy, to send as a header as well. */
  readonly policy: string;
  readonly pieces: Iterable<string>;
}

/** Renders invoices as one page, each on new sheets of paper. */
export function renderSheets(sheets: readonly InvoiceSheet[]): PiecedPage {
  const style = `${INVOICE_STYLE}${sheets.map(createPageRule).join("")}`;
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${sha256Base64(style)}'`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return { policy: `${policy}; frame-ancestors 'none'`, pieces: renderPieces(sheets, style, policy) };
}

function* renderPieces(sheets: readonly InvoiceSheet[], style: string, policy: string): Generator<string> {
  const [first] = sheets;
  const title = sheets.length === 1 && first ? `${first.title} ${first.number}` : (first?.title ?? "");
  const watermark = first?.texts.words.draft ?? "";
  yield [
    `<!doctype html>`,
    `<html lang="${first?.texts.lang ?? "en"}"><head><meta charset="utf-8">`,
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    `<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">`,
    `<meta name="referrer" content="no-referrer"><title>${escapeHtml(title)}</title>`,
    `<style>${style}</style></head><body><main>`,
    sheets.every(({ isDraft }) => isDraft)
      ? `<div class="watermark" aria-hidden="true">${escapeHtml(watermark)}</div>`
      : "",
  ].join("\n");
  for (const [index, sheet] of sheets.entries()) yield* renderSheet(sheet, index);
  yield `</main></body></html>\n`;
}

/** The line at the end of each sheet of paper: seller and number. */
function createPageRule({ details: { seller }, title, number }: InvoiceSheet, index: number): string {
  const line = [...(seller === undefined ? [] : [seller.name.slice(0, 60)]), `${title} ${number}`].join(" · ");
  const content = Array.from(toPrintable(line), (character) =>
    /[\p{L}\p{N} ]/u.test(character) ? character : `\\${character.codePointAt(0)?.toString(16)} `,
  ).join("");
  return `.i${index} { page: i${index}; } @page i${index} { @bottom-left { content: "${content}"; font: 8pt sans-serif; color: #5c5c55; } }\n`;
}

function* renderSheet(sheet: InvoiceSheet, index: number): Generator<string> {
  const { details, texts, id, title, isDraft, facts, status, rows, notices } = sheet;
  const { words } = texts;
  const { seller, buyer, logo, notes } = details;
  const columns = measureColumns(rows(), texts);
  const factList = facts.map(([name, value]) => `<div><dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd></div>`);
  const badge = isDraft ? ` <span class="badge">${escapeHtml(words.draft)}</span>` : "";
  const name = seller === undefined ? "" : `<p class="brand">${escapeHtml(seller.name)}</p>`;
  const brand =
    logo === undefined
      ? name
      : `<img class="logo" alt="${escapeHtml(seller?.name ?? "Logo")}" src="${escapeHtml(logo)}">`;
  yield [
    `<article class="i${index}" lang="${texts.lang}">`,
    `<header><h1>${escapeHtml(title)}${badge}</h1>${brand}</header>`,
    `<div class="letter">${renderParty(words.from, seller)}${renderParty(words.billTo, buyer)}<dl class="facts">${factList.join("")}</dl></div>`,
    `<p class="status${isDraft ? " muted" : ""}">${escapeHtml(status)}</p>`,
    `<table><thead><tr><th scope="col">${escapeHtml(words.description)}</th>`,
    columns.hasFigures
      ? `<th scope="col" colspan="2">${escapeHtml(words.quantity)}</th><th scope="col" colspan="2">${escapeHtml(words.unitPrice)}</th>`
      : `<td colspan="4"></td>`,
    `<th scope="col">${escapeHtml(words.amount)}</th></tr></thead><tbody>`,
  ].join("\n");
  yield* renderRows(rows(), columns, texts);
  yield `</tbody></table>\n`;
  // Notices are in English.
  if (notices.length > 0) yield `<ul class="notices" lang="en">`;
  for (const notice of notices) yield `<li>${escapeHtml(notice)}</li>`;
  if (notices.length > 0) yield `</ul>`;
  yield [
    notes === undefined ? "" : `<div class="notes">${renderLines(notes.split("\n"))}</div>`,
    `<footer>${escapeHtml(id)}</footer></article>`,
    "",
  ].join("\n");
}

function renderParty(title: string, party: InvoiceParty | undefined): string {
  if (party === undefined) return "";
  const { name, address = [], taxIds = [] } = party;
  const taxLines = taxIds.map((line) => `<span class="tax-id">${escapeHtml(line)}</span>`).join("");
  return `<section><h2>${escapeHtml(title)}</h2><address>${renderLines([name, ...address])}${taxLines}</address></section>`;
}

function renderLines(lines: readonly string[]): string {
  return lines.map((line) => `<span>${escapeHtml(line)}</span>`).join("");
}

/** The most decimal places to which numbers of a column are aligned. */
const ALIGNED_DIGITS_MAX = 6;

interface Columns {
  /** Whether a row has a quantity or a unit price. */
  readonly hasFigures: boolean;
  /** The decimal places to which the numbers of a column are aligned. */
  readonly quantityDigits: number;
  readonly rateDigits: number;
}

function measureColumns(rows: Iterable<PageRow>, { findFraction }: InvoiceTexts): Columns {
  let [hasFigures, quantityDigits, rateDigits] = [false, 0, 0];
  for (const { quantity = "", rate = "" } of rows) {
    hasFigures ||= quantity !== "" || rate !== "";
    quantityDigits = Math.max(quantityDigits, findFraction(quantity).length);
    rateDigits = Math.max(rateDigits, findFraction(rate).length);
  }
  return {
    hasFigures,
    quantityDigits: Math.min(quantityDigits, ALIGNED_DIGITS_MAX),
    rateDigits: Math.min(rateDigits, ALIGNED_DIGITS_MAX),
  };
}

/** Renders rows; numbers of a column are aligned on their decimal marks. */
function* renderRows(
  rows: Iterable<PageRow>,
  { quantityDigits, rateDigits }: Columns,
  { findFraction, decimalMark }: InvoiceTexts,
): Generator<string> {
  let isAfterItems = false;
  const renderNumber = (name: string, text: string | undefined, digits: number): string => {
    if (text === undefined) return `<td class="${name}"></td>`;
    const { length } = findFraction(text);
    const missing = "0".repeat(Math.max(0, digits - length));
    const pad =
      missing === "" || !/\p{Nd}/u.test(text) ? "" : ` data-pad="${length === 0 ? decimalMark : ""}${missing}"`;
    return `<td class="${name}"${pad}>${escapeHtml(text)}</td>`;
  };
  for (const { kind, label, quantity, unit = "", rate, basis = "", amount = "" } of rows) {
    if (kind === "note") {
      yield `<tr class="note"><td colspan="6">${escapeHtml(label)}</td></tr>\n`;
      continue;
    }
    const isSum = kind === "sum" || kind === "total";
    const first = isSum && !isAfterItems ? " first" : "";
    isAfterItems ||= isSum;
    yield isSum || (quantity === undefined && rate === undefined)
      ? `<tr class="${kind}${first} bare"><th scope="row" colspan="5">${escapeHtml(label)}</th><td class="a">${escapeHtml(amount)}</td></tr>\n`
      : [
          `<tr class="${kind}"><th scope="row">${escapeHtml(label)}</th>`,
          renderNumber("q", quantity, quantityDigits),
          `<td class="u">${escapeHtml(joinWords(unit))}</td>`,
          renderNumber("r", rate, rateDigits),
          `<td class="b">${escapeHtml(joinWords(basis))}</td><td class="a">${escapeHtml(amount)}</td></tr>\n`,
        ].join("");
  }
}

/** Keeps a short text on one line. */
function joinWords(text: string): string {
  return text.length > 16 ? text : text.replaceAll(" ", "\u00A0");
}

/** The style on screens and on paper. In print, table heads are repeated, no row is split, and drafts have a watermark on every sheet. */
const INVOICE_STYLE = `${buildPageTokens()}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 400 var(--text-m)/1.5 var(--font); }
main { max-width: 52rem; margin: var(--space-6) auto; padding: 0 var(--space-4); }
article { background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); padding: 3rem; }
article + article { margin-top: var(--space-6); }
h1, h2, p, dl, dd, ul { margin: 0; }
header { display: flex; justify-content: space-between; align-items: flex-start; gap: var(--space-5); }
h1 { font-size: var(--text-2xl); font-weight: 600; line-height: 1.2; letter-spacing: -.01em; }
h2, dt, thead th { font-size: var(--text-s); line-height: 1.5rem; font-weight: 500; color: var(--ink-2); }
.badge { display: inline-block; vertical-align: middle; margin-left: var(--space-2); padding: 0 var(--space-2); border-radius: 99px; background: var(--mark); color: var(--mark-ink); font-size: var(--text-s); font-weight: 500; line-height: 1.5rem; letter-spacing: 0; }
.logo { max-width: 12rem; max-height: 4.5rem; }
.brand { font-size: var(--text-l); font-weight: 600; text-align: right; }
.brand, address span, dd, th[scope=row], .note td, .notes { unicode-bidi: plaintext; overflow-wrap: anywhere; }
.letter { display: grid; grid-template-columns: 1fr 1fr auto; gap: var(--space-5); margin: var(--space-6) 0; }
.facts { display: grid; grid-template-columns: auto auto; gap: 0 var(--space-3); align-content: start; max-width: 22rem; }
.facts div { display: contents; }
.facts dt, .facts dd { line-height: 1.5rem; }
address { font-style: normal; }
address span { display: block; text-align: left; }
address span:first-child { font-weight: 600; }
address .tax-id { color: var(--ink-2); }
.status { font-size: var(--text-xl); font-weight: 600; line-height: 1.3; margin: var(--space-6) 0; text-wrap: balance; }
.status.muted { font-size: var(--text-m); font-weight: 400; color: var(--ink-2); }
table { border-collapse: collapse; width: 100%; }
th, td { font-weight: 400; text-align: right; vertical-align: top; font-variant-numeric: tabular-nums; white-space: nowrap; }
th[scope=row], .note td { text-align: left; white-space: normal; }
.u, .b { text-align: left; color: var(--ink-2); white-space: normal; overflow-wrap: break-word; }
.card th { font-weight: 500; }
.group > *, .total > * { font-weight: 600; }
.slab > *, .item > *, .note td { color: var(--ink-2); }
.note td { font-size: var(--text-s); }
.note td::first-letter { text-transform: uppercase; }
.total:not(:has(~ .total)) > * { font-size: var(--text-l); }
.notices { margin-top: var(--space-5); padding: var(--space-3) var(--space-4) var(--space-3) var(--space-6); background: var(--mark); color: var(--mark-ink); border-radius: var(--radius); overflow-wrap: anywhere; }
.notes { margin-top: var(--space-6); padding-top: var(--space-4); border-top: 1px solid var(--line); }
.notes span { display: block; }
footer { margin-top: var(--space-5); color: var(--ink-3); font-size: var(--text-xs); overflow-wrap: anywhere; }
.watermark { display: none; }
@media (max-width: 40rem) {
  main { margin: 0; padding: 0; }
  article { border-width: 0 0 1px; border-radius: 0; padding: var(--space-5) var(--space-4); }
  h1 { font-size: 1.5rem; }
  .logo { max-width: 8rem; max-height: 3rem; }
}
@media print, (min-width: 40.01rem) {
  th, td { padding: .3rem 0 .3rem var(--space-4); }
  thead th { padding-bottom: var(--space-2); border-bottom: 1px solid var(--line-strong); }
  th[scope=row], thead th:first-child { padding-left: 0; text-align: left; }
  th[scope=row] { width: 100%; min-width: 12rem; }
  .u, .b { padding-left: .35em; max-width: 9rem; }
  .u:empty, .b:empty { padding: 0; }
  [data-pad]::after { content: attr(data-pad) / ""; visibility: hidden; }
  .card > *, .group > * { border-top: 1px solid var(--line); padding-top: var(--space-2); }
  tbody tr:first-child > *, .group + .card > * { border-top: 0; }
  .slab th, .subtotal th { padding-left: var(--space-4); }
  .item th { padding-left: var(--space-6); }
  .note td { padding: 0 0 .3rem var(--space-4); }
  .sum th, .total th, .sum + .note td { width: auto; padding-left: 50%; }
  .first > * { border-top: 1px solid var(--line-strong); padding-top: var(--space-3); }
  .total > * { padding-top: var(--space-2); }
}
@media screen and (max-width: 40rem) {
  .letter { grid-template-columns: 1fr; margin: var(--space-5) 0; }
  .facts { order: -1; justify-content: start; }
  thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
  table, tbody { display: block; }
  tbody tr { display: flex; flex-wrap: wrap; column-gap: .35em; padding: var(--space-1) 0; }
  th[scope=row], .note td { flex: 1 0 100%; }
  .bare th[scope=row] { flex: 1 1 0; }
  .a { margin-left: auto; padding-left: var(--space-3); }
  .q, .r { color: var(--ink-2); }
  .u, .b { min-width: 0; overflow-wrap: anywhere; }
  .q:not(:empty) ~ .r:not(:empty)::before { content: "× " / ""; }
  td:empty { display: none; }
  .card, .group, .first, .total { border-top: 1px solid var(--line); }
  tbody tr:first-child, .group + .card { border-top: 0; }
  .slab, .subtotal, .note { padding-left: var(--space-4); }
  .item { padding-left: var(--space-6); }
  .sum + .note { padding-left: 0; }
}
@page { margin: 16mm 15mm 18mm; @bottom-right { content: counter(page) " / " counter(pages); font: 8pt sans-serif; color: #5c5c55; } }
@media print {
  :root { font-size: 10.5pt; }
  body, article { background: none; }
  main { max-width: none; margin: 0; padding: 0; }
  article { border: 0; border-radius: 0; padding: 0; }
  article + article { margin: 0; break-before: page; }
  .letter, .status { margin: var(--space-5) 0; }
  thead { display: table-header-group; }
  tr, .letter, .notices, .notes, footer { break-inside: avoid; }
  .note, .sum, .total, footer { break-before: avoid; }
  .card:has(+ :is(.slab, .subtotal, .note)), .subtotal, .group { break-after: avoid; }
  .badge, .notices { border: 1px solid; background: none; }
  .watermark { position: fixed; inset: 0; display: flex; align-items: center; justify-content: center; font-size: 9rem; font-weight: 700; color: var(--danger); opacity: .1; transform: rotate(-28deg); overflow: hidden; }
}
`;
