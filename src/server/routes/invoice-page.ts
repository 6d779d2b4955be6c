/**
 * An invoice as a page to print or send: plain HTML, all text escaped, nothing that runs or is fetched.
 *
 * @module
 */
import { createHash } from "node:crypto";

import { parseInstant } from "../../calendar/instant.ts";
import type { InvoiceShown } from "../../engine/billing/invoices.ts";
import type { CompositeShown } from "../../engine/events/usage.ts";
import { dayText, moneyText, periodText } from "../../invoicing/figure-text.ts";
import { type InvoiceRow, invoiceRows } from "../../invoicing/invoice-rows.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";

const STYLE = `
body { font: 15px/1.5 system-ui, sans-serif; color: #1c1c1c; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1.5rem; margin: 1rem 0 2rem; }
dt { color: #666; }
dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: right; padding: .2rem 0 .2rem 1rem; vertical-align: top; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; padding-left: 0; overflow-wrap: anywhere; min-width: 12rem; }
th { color: #666; font-weight: normal; border-bottom: 1px solid #bbb; }
tr.rule td { border-top: 1px solid #bbb; padding: 0; }
tr.total td { font-weight: 600; }
tr.how td { color: #666; font-size: .85rem; text-align: left; overflow-wrap: anywhere; }
.d1 td:first-child { padding-left: 1.5rem; }
.d2 td:first-child { padding-left: 3rem; }
.d3 td:first-child { padding-left: 4.5rem; }
@media (max-width: 36rem) {
  body { margin: 1rem auto; }
  table, thead, tbody { display: block; }
  tr { display: flex; flex-wrap: wrap; justify-content: flex-end; }
  thead tr { border-bottom: 1px solid #bbb; }
  th { border: 0; }
  th, td { box-sizing: border-box; flex: 0 0 33%; overflow-wrap: anywhere; }
  th:first-child, td:first-child { flex: 1; min-width: 0; }
  tr.figures td:first-child, td[colspan] { flex: 0 0 100%; }
  th, td { padding-left: .25rem; }
  tr.figures td { padding-bottom: 0; }
  tr.figures td:first-child ~ td { padding-top: 0; padding-bottom: .2rem; }
  th:empty, tr:not(.figures, .rule) td:empty { display: none; }
  .d1 td:first-child { padding-left: .75rem; }
  .d2 td:first-child { padding-left: 1.5rem; }
  .d3 td:first-child { padding-left: 2.25rem; }
}
@page { margin: 15mm; }
@media print {
  body { max-width: none; margin: 0; padding: 0; }
  tr { break-inside: avoid; }
  tr.how, tr.total { break-before: avoid; }
}
`;

/** What a browser may do with the page: apply its own style, and nothing else. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const TITLES: Readonly<Record<Invoice["invoiceType"], string>> = {
  STANDARD: "Invoice",
  STANDARD_ADVANCED: "Invoice in advance",
  AD_HOC: "Invoice at once",
};

/** What ids stand for, as people know it. */
export interface InvoiceNames {
  /** Whose invoice it is; absent where the organization has no name. */
  readonly organization: string | undefined;
  readonly account: string;
  readonly customer: string;
  readonly pricePlan: string;
}

/** The page of an invoice, for the one who pays it: without ids of plans, and without links to rules. */
export function invoicePage({ id, invoice }: InvoiceShown, names: InvoiceNames): string {
  const { status, currency, startDate, endDate, invoiceDate, dueDate, accountId, customerId } = invoice;
  const title =
    status === "DRAFT" ? `Draft: ${TITLES[invoice.invoiceType].toLowerCase()}` : TITLES[invoice.invoiceType];
  return page(
    title,
    [
      ...from(names),
      ["Account", called(accountId, names.account)],
      ["Customer", called(customerId, names.customer)],
      ["Period", periodText(startDate, endDate)],
      ["Dated", dayText(parseInstant(invoiceDate))],
      ["Due", dayText(parseInstant(dueDate))],
      ["Status", status],
      ["Price plan", `${names.pricePlan}, version ${invoice.pricePlanVersion}`],
      ["Number", id],
    ],
    `${tableOf(["", "Quantity", "Rate", currency], invoiceRows(invoice))}${noticesOf(invoice.notices)}`,
  );
}

/** What the ids of a composite invoice stand for, as people know it. */
export interface CompositeNames extends Pick<InvoiceNames, "organization"> {
  readonly group: string;
  /** By id. */
  readonly accounts: ReadonlyMap<string, string>;
}

/** The page of a composite invoice: whose invoices it holds, with their numbers. */
export function compositePage(composite: CompositeShown, names: CompositeNames): string {
  const { id, invoiceGroupId, currency, invoiceDate, dueDate, total, invoices } = composite;
  const digits = minorUnitDigits(currency);
  const rows: InvoiceRow[] = [
    ...invoices.flatMap(({ invoiceId, accountId, total: amount }): InvoiceRow[] => [
      {
        kind: "line",
        depth: 0,
        cells: [called(accountId, names.accounts.get(accountId)), "", "", moneyText(amount, digits)],
      },
      { kind: "text", depth: 1, text: invoiceId, rules: [] },
    ]),
    { kind: "rule" },
    { kind: "line", depth: 0, cells: ["Total", "", currency, moneyText(total, digits)] },
  ];
  return page(
    "Invoice of a group",
    [
      ...from(names),
      ["Invoice group", called(invoiceGroupId, names.group)],
      ["Dated", dayText(invoiceDate)],
      ["Due", dayText(dueDate)],
      ["Number", id],
    ],
    tableOf(["Account", "", "", currency], rows),
  );
}

type Fact = readonly [name: string, value: string];

function from({ organization }: Pick<InvoiceNames, "organization">): readonly Fact[] {
  return organization === undefined ? [] : [["From", organization]];
}

/** `Acme production (acme-prod)`. */
function called(id: string, name: string = id): string {
  return name === id ? id : `${name} (${id})`;
}

function page(title: string, facts: readonly Fact[], body: string): string {
  const list = facts.map(([name, value]) => `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`).join("");
  return (
    `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
    `<title>${escaped(title)}</title><style>${STYLE}</style></head>` +
    `<body><h1>${escaped(title)}</h1><dl>${list}</dl>${body}</body></html>\n`
  );
}

function tableOf(columns: readonly [string, string, string, string], rows: readonly InvoiceRow[]): string {
  const head = columns.map((name) => `<th>${escaped(name)}</th>`).join("");
  return `<table><thead><tr>${head}</tr></thead><tbody>${rows.map(rowOf).join("")}</tbody></table>`;
}

function rowOf(row: InvoiceRow): string {
  if (row.kind === "rule") return `<tr class="rule"><td colspan="4"></td></tr>`;
  const depth = Math.min(row.depth, 3);
  if (row.kind === "text") return `<tr class="how d${depth}"><td colspan="4">${escaped(row.text)}</td></tr>`;
  const [label, quantity] = row.cells;
  // On a narrow screen what has a quantity takes two lines, the label above the figures.
  const kind = label === "Total" ? " total" : quantity === "" ? "" : " figures";
  const cells = row.cells.map((cell) => `<td>${escaped(cell)}</td>`).join("");
  return `<tr class="d${depth}${kind}">${cells}</tr>`;
}

function noticesOf(notices: readonly string[]): string {
  return notices.length === 0 ? "" : `<ul>${notices.map((notice) => `<li>${escaped(notice)}</li>`).join("")}</ul>`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** A text as HTML shows it; control characters and those that turn the direction of text are blanks. */
function escaped(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]+/gu, " ")
    .replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? "");
}
