/**
 * An invoice as a page to print or send: plain HTML, all text escaped, nothing that runs or is fetched.
 *
 * @module
 */
import { createHash } from "node:crypto";

import { formatInstant, type Instant, parseInstant } from "../../calendar/instant.ts";
import { formatMoney } from "../../invoicing/figure-text.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import type { Decimal } from "../../numbers/decimal.ts";
import { escaped } from "../escaped.ts";
import { INVOICE_TITLES } from "../invoice-titles.ts";
import { dateWords, periodWords } from "./date-words.ts";
import { pageRows, type PageRow, paymentOf } from "./invoice-lines.ts";
import { invoiceNumber } from "./invoice-number.ts";
import { INVOICE_STYLE } from "./invoice-style.ts";
import { logoOf } from "./logo.ts";

/** What a browser may do with the page: apply its own style, show a picture that is in it, and nothing else. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(INVOICE_STYLE).digest("base64")}'`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The seller, the buyer, and the lines that the seller puts on every invoice. */
export interface InvoiceLetter {
  /** Name, address and the like of the seller, a line each; empty: unknown. */
  readonly seller: readonly string[];
  /** Those of the buyer. */
  readonly buyer: readonly string[];
  /** A picture as a data URI; what is none is not shown. */
  readonly logo?: string | undefined;
  /** How to pay and the like; lines stay lines. */
  readonly notes?: string | undefined;
  /** The buyer's name of the order. */
  readonly reference?: string | undefined;
}

/** An invoice and what its ids stand for. */
export interface InvoiceOnPage {
  readonly id: string;
  readonly invoice: Invoice;
  readonly account: string;
  readonly pricePlan: string;
  /** The number of the group's invoice that shows it. */
  readonly mergedInto?: string | undefined;
}

/**
 * The page of an invoice, for the one who pays it: without ids of plans, and without links to rules.
 *
 * @returns the page in pieces of a row at most, to be put together: an invoice may have tens of thousands of rows
 */
export function invoicePage(
  { id, invoice, account, pricePlan, mergedInto }: InvoiceOnPage,
  letter: InvoiceLetter,
): Generator<string> {
  const { invoiceType, status, startDate, endDate, invoiceDate, dueDate, currency, revenueInfo, notices } = invoice;
  const isDraft = status === "DRAFT";
  const due = paymentOf(status, revenueInfo.value).due;
  const says = {
    DRAFT: "This is a draft: it still changes, and nothing is due yet.",
    DUE: `${amountWords(due, currency)} due by ${dateWords(parseInstant(dueDate))}.`,
    PAID: "Paid. Nothing is due.",
    MERGED: `Part of the invoice ${mergedInto ?? "of the group"}: pay that one.`,
  }[status];
  return page({
    title: isDraft ? `Draft ${INVOICE_TITLES[invoiceType].toLowerCase()}` : INVOICE_TITLES[invoiceType],
    isDraft,
    letter,
    facts: [
      ["Number", invoiceNumber(id, invoiceDate)],
      ["Date", dateWords(parseInstant(invoiceDate))],
      ...(isDraft || status === "MERGED" ? [] : [["Due", dateWords(parseInstant(dueDate))] as const]),
      ["Period", periodWords(startDate, endDate)],
      ["Account", account],
      ["Plan", pricePlan],
    ],
    says,
    columns: ["", "Quantity", "Rate", currency],
    rows: pageRows(invoice),
    notices,
    id,
  });
}

/** The invoice of a group on a page. */
export interface CompositeOnPage {
  readonly id: string;
  readonly group: string;
  readonly currency: string;
  readonly invoiceDate: Instant;
  readonly dueDate: Instant;
  readonly total: Decimal;
  /** The invoices that it holds, each with its account's name. */
  readonly invoices: readonly { readonly number: string; readonly account: string; readonly total: Decimal }[];
}

/** The page of a composite invoice, in pieces: whose invoices it holds, with their numbers. */
export function compositePage(composite: CompositeOnPage, letter: InvoiceLetter): Generator<string> {
  const { id, group, currency, invoiceDate, dueDate, total } = composite;
  return page({
    title: "Invoice",
    isDraft: false,
    letter,
    facts: [
      ["Number", invoiceNumber(id, formatInstant(invoiceDate))],
      ["Date", dateWords(invoiceDate)],
      ["Due", dateWords(dueDate)],
      ["Group", group],
    ],
    says: `${amountWords(total, currency)} due by ${dateWords(dueDate)}.`,
    columns: ["Account", "", "", currency],
    rows: compositeRows(composite),
    notices: [],
    id,
  });
}

function* compositeRows({ invoices, currency, total }: CompositeOnPage): Generator<PageRow> {
  const digits = minorUnitDigits(currency);
  for (const { number, account, total: amount } of invoices) {
    yield { kind: "card", label: account, amount: formatMoney(amount, digits) };
    yield { kind: "note", label: `Invoice ${number}` };
  }
  yield { kind: "total", label: `Total ${currency}`, amount: formatMoney(total, digits) };
}

function amountWords(amount: Decimal, currency: string): string {
  return `${formatMoney(amount, minorUnitDigits(currency))} ${currency}`;
}

interface PageParts {
  readonly title: string;
  readonly isDraft: boolean;
  readonly letter: InvoiceLetter;
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly says: string;
  readonly columns: readonly [string, string, string, string];
  readonly rows: Iterable<PageRow>;
  readonly notices: readonly string[];
  readonly id: string;
}

function* page({ title, isDraft, letter, facts, says, columns, rows, notices, id }: PageParts): Generator<string> {
  const { seller, buyer, notes, reference } = letter;
  const logo = logoOf(letter.logo);
  const shown = reference === undefined ? facts : [...facts, ["Your reference", reference] as const];
  const list = shown.map(([name, value]) => `<div><dt>${escaped(name)}</dt><dd>${escaped(value)}</dd></div>`).join("");
  yield [
    `<!doctype html>`,
    `<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">`,
    `<meta name="color-scheme" content="light dark"><title>${escaped(`${title} ${facts[0]?.[1] ?? ""}`)}</title>`,
    `<style>${INVOICE_STYLE}</style></head>`,
    `<body>${isDraft ? `<div class="draft" aria-hidden="true"></div>` : ""}`,
    `<header><h1>${escaped(title)}</h1>`,
    logo === undefined ? "" : `<img class="logo" alt="${escaped(seller[0] ?? "Logo")}" src="${logo}">`,
    `</header><main><section class="parties">${partyOf("From", seller)}${partyOf("To", buyer)}</section>`,
    `<dl>${list}</dl><p class="says">${escaped(says)}</p>`,
  ].join("\n");
  const head = columns.map((name) => (name === "" ? "<td></td>" : `<th scope="col">${escaped(name)}</th>`)).join("");
  yield `<table><thead><tr>${head}</tr></thead><tbody>`;
  for (const row of rows) yield rowOf(row);
  yield `</tbody></table>\n`;
  if (notices.length > 0) yield `<ul class="notices">`;
  for (const notice of notices) yield `<li>${escaped(notice)}</li>`;
  if (notices.length > 0) yield `</ul>`;
  yield [
    "",
    notes === undefined ? "" : `<section class="notes">${linesOf(notes.split("\n"))}</section>`,
    `</main><footer>${escaped(id)}</footer></body></html>`,
    "",
  ].join("\n");
}

function partyOf(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `<div><h2>${title}</h2><address>${linesOf(lines)}</address></div>`;
}

function linesOf(lines: readonly string[]): string {
  return lines.map((line) => `<span>${escaped(line)}</span>`).join("<br>");
}

function rowOf({ kind, label, quantity, rate, amount }: PageRow): string {
  if (kind === "note") return `<tr class="note"><td colspan="4">${escaped(label)}</td></tr>`;
  const figures = [quantity, rate, amount].map((figure) => `<td>${escaped(figure ?? "")}</td>`).join("");
  return `<tr class="${kind}"><th scope="row">${escaped(label)}</th>${figures}</tr>`;
}
