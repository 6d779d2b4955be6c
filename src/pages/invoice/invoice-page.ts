/** Renders invoices as plain HTML to print or send: escaped text, no scripts, nothing loaded. */
import type { Invoice } from "../../invoicing/invoice.ts";
import { sha256Base64 } from "../../numbers/short-id.ts";
import { escapeHtml, toPrintable } from "../printable.ts";
import { checkInvoiceDetails, type InvoiceDetails, type InvoiceParty } from "./invoice-details.ts";
import type { PageRow } from "./invoice-lines.ts";
import { createInvoiceSheet, type InvoiceSheet } from "./invoice-sheet.ts";
import { INVOICE_STYLE } from "./invoice-style.ts";
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
