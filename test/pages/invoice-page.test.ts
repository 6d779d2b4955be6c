/** Invoices as pages: their texts for the customer, and that nothing in a name is executed. */
import { createHash } from "node:crypto";

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { parseBook, renderInvoice } from "../../src/index.ts";
import { describeSlabRange, invoiceRows } from "../../src/invoicing/invoice-rows.ts";
import { computePayment, type Invoice } from "../../src/invoicing/invoice.ts";
import { Decimal } from "../../src/numbers/decimal.ts";
import { type InvoiceDetails, LOGO_LENGTH_MAX, parseLogo } from "../../src/pages/invoice/invoice-details.ts";
import { createPageRows, formatInvoiceNumber, formatLongPeriod } from "../../src/pages/invoice/invoice-lines.ts";
import { renderSheets } from "../../src/pages/invoice/invoice-page.ts";
import { createInvoiceSheet } from "../../src/pages/invoice/invoice-sheet.ts";
import { createBookNames, toInvoiceData } from "../../src/pages/report/invoice-data.ts";
import { SMALL_BOOK } from "../cli/fake-io.ts";
import { findUnclosedTags } from "../support/svg.ts";
import { invoiceForUnits } from "./small-invoice.ts";

const NO_NAMES = createBookNames(parseBook({}));

const ID = "inv.0123456789ABCDEF";
const DETAILS: InvoiceDetails = {
  id: ID,
  seller: { name: "Acme Ltd", address: ["12 Harbour Road"] },
  buyer: { name: "Contoso" },
  account: "Contoso production",
  plan: "Small",
};
const renderPage = (invoice: Invoice, details: InvoiceDetails = {}): string =>
  renderInvoice(invoice, { ...DETAILS, ...details });

describe("an invoice for the customer", () => {
  test("has its lines in words, and the amounts added", () => {
    const rows = [...createPageRows(invoiceForUnits(1500))];
    expect(
      rows.map(({ label, quantity, rate, amount }) => [label, quantity, rate, amount].filter(Boolean).join(" | ")),
    ).toEqual([
      "units | 1,500 | 1,600.00",
      "first 100, each | 100 | 2.00 | 200.00",
      "above 100, each | 1,400 | 1.00 | 1,400.00",
      "Sub-total | 1,600.00",
      "Minimum commitment | 400.00",
      "minimum commitment of the billing period: 2,000",
      "already charged: 1,600",
      "Credit: welcome | -50.00",
      "Total USD | 1,950.00",
    ]);
  });

  test.each([
    ["DRAFT", "This is a draft. It can still change, and nothing is due yet."],
    ["DUE", "$1,950.00 due July 1, 2024"],
    ["PAID", "Paid. Nothing is due."],
    ["MERGED", "Part of the invoice of the group: pay that one."],
  ] as const)("states what is due for %s", (status, sentence) => {
    const page = renderPage({ ...invoiceForUnits(1500), status });
    expect(page).toContain(`>${sentence}</p>`);
    expect(page.includes(`<div class="watermark" aria-hidden="true">Draft</div>`)).toBe(status === "DRAFT");
    expect(page.includes(`<span class="badge">Draft</span>`)).toBe(status === "DRAFT");
  });

  test.each([
    ["DUE", "7", ["0", "7"]],
    ["PAID", "7", ["7", "0"]],
    ["PAID", "-7", ["0", "0"]],
    ["DRAFT", "7", ["0", "0"]],
  ] as const)("S13.4 shows the paid and due amounts of %s over %s as %o", (status, total, expected) => {
    const { amountPaid, amountDue } = computePayment(status, new Decimal(total));
    expect([amountPaid.toFixed(), amountDue.toFixed()]).toEqual(expected);
  });

  test.each([
    ["2026-06-01", "2026-07-01", "1 to 30 June 2026"],
    ["2026-06-15", "2026-06-16", "15 June 2026"],
    ["2026-06-15", "2026-07-15", "15 June to 14 July 2026"],
    ["2025-12-15", "2026-01-15", "15 December 2025 to 14 January 2026"],
  ])("shows the period from %s until %s as %s", (from, until, words) => {
    expect(formatLongPeriod(`${from}T00:00:00.000Z`, `${until}T00:00:00.000Z`)).toBe(words);
  });
});

/** An invoice of a meter with a card of this many packages of one unit, all of which are reached. */
const invoiceOfSlabs = (count: number) => {
  const tier = { rate: 2, package: 1 };
  const tiers = [...Array.from({ length: count - 1 }, (_, order) => ({ ...tier, upTo: order + 1 })), tier];
  const plan = { id: "pp.small", currencies: ["USD"], cycle: "MONTHLY", usage: [{ meter: "um.units", tiers }] };
  return invoiceForUnits(count, { ...SMALL_BOOK, pricePlans: [plan] });
};

/** Counts how often elements of the lists in a value are read. */
function countingReads(value: Invoice): { readonly invoiceToCount: Invoice; readonly reads: () => number } {
  let reads = 0;
  const wrap = (part: unknown): unknown => {
    if (Array.isArray(part)) {
      const get = (target: object, key: string | symbol, self: unknown): unknown => {
        if (typeof key === "string" && /^\d+$/.test(key)) reads++;
        return Reflect.get(target, key, self);
      };
      return new Proxy(part.map(wrap), { get });
    }
    if (typeof part !== "object" || part === null || Object.getPrototypeOf(part) !== Object.prototype) return part;
    return Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, wrap(inner)]));
  };
  return { invoiceToCount: wrap(value) as Invoice, reads: () => reads };
}

describe("an invoice of many slabs", () => {
  test.each([
    ["its page", (invoice: Invoice) => renderPage(invoice)],
    ["a report", (invoice: Invoice) => toInvoiceData(invoice, () => undefined, NO_NAMES)],
    ["a table", (invoice: Invoice) => invoiceRows(invoice)],
  ])("%s reads each slab a few times, however many there are", (_, draw) => {
    for (const count of [4, 400]) {
      const { invoiceToCount, reads } = countingReads(invoiceOfSlabs(count));
      draw(invoiceToCount);
      expect(reads()).toBeGreaterThan(count);
      // Names, notes and rows each read the lines and the slabs behind them; a page reads them once more for its columns.
      expect(reads()).toBeLessThan(40 * count + 100);
    }
  });

  test("is rendered in pieces of at most one row", () => {
    const pieces = [...renderSheets([createInvoiceSheet(invoiceOfSlabs(400), DETAILS)]).pieces];
    const rows = pieces.map((piece) => piece.match(/<tr class/g)?.length ?? 0);
    expect(Math.max(...rows)).toBe(1);
    // Each of 400 slabs has a row and the note "1 package".
    expect(rows.filter((count) => count === 1).length).toBeGreaterThan(800);
  });
});

describe("labels of slabs", () => {
  const slab = (startAfter: number, endAt?: number) => ({
    startAfter: new Decimal(startAfter),
    ...(endAt === undefined ? {} : { endAt: new Decimal(endAt) }),
  });

  test.each([
    ["TIERED", slab(0, 1000), "first 1,000"],
    ["TIERED", slab(1000, 10_000), "next 9,000"],
    ["TIERED", slab(10_000), "above 10,000"],
    ["VOLUME", slab(0, 1000), "up to 1,000"],
    ["VOLUME", slab(1000, 10_000), "up to 10,000"],
    ["VOLUME", slab(0), "all units"],
  ] as const)("S7.2 in %s describe %o as %s", (model, reach, words) => {
    expect(describeSlabRange(model, reach)).toBe(words);
  });
});

test("invoice numbers are derived from the id, without characters that can be confused", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      const number = formatInvoiceNumber(a, "2026-07-01T00:00:00.000Z");
      expect(number).toMatch(/^2026-07 [0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/);
      expect(formatInvoiceNumber(a, "2026-07-01")).toBe(number);
      if (a !== b) expect(formatInvoiceNumber(b, "2026-07-01")).not.toBe(number);
    }),
  );
  expect(formatInvoiceNumber(ID, "2026-07-01")).toBe(formatInvoiceNumber(ID, "2026-07-31"));
  expect(formatInvoiceNumber(ID, "2026-07-01")).not.toBe(formatInvoiceNumber("inv.0123456789ABCDEG", "2026-07-01"));
});

const PNG =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe("logos", () => {
  test("a picture in the setting is shown with the seller's name", () => {
    expect(renderPage(invoiceForUnits(1), { logo: PNG })).toContain(`<img class="logo" alt="Acme Ltd" src="${PNG}">`);
  });

  test.each([
    ["a picture that could run something", "data:image/svg+xml;base64,PHN2Zy8+"],
    ["a page", "data:text/html;base64,PGI+"],
    ["an address", "https://example.com/logo.png"],
    ["content that is not a picture of the type", "data:image/png;base64,PHN2Zy8+"],
    ["more after the content", `${PNG}" onerror="alert(1)`],
    ["a picture that is too large", `${PNG.slice(0, -2)}${"A".repeat(LOGO_LENGTH_MAX)}`],
    ["nothing", ""],
  ])("does not show %s", (_, value) => {
    expect(parseLogo(value)).toBeUndefined();
    expect(() => renderPage(invoiceForUnits(1), { logo: value })).toThrow(/^logo: expected a data URI of a PNG/);
  });
});

describe("everything in an invoice is text", () => {
  const nasty = fc
    .array(
      fc.oneof(
        fc.string({ unit: "binary" }),
        fc.constantFrom("<script>", "</style>", "-->", "\"'", "&lt;", "\u202E", "<img src=x onerror=y>", "\n", "]]>"),
      ),
    )
    .map((parts) => parts.join(""));

  const textsOf = (name: string, notes: string): InvoiceDetails => ({
    seller: { name, address: [name], taxIds: [name] },
    buyer: { name },
    number: name.slice(0, 100),
    account: name,
    plan: name,
    reference: name,
    notes,
    units: { "um.units": name.slice(0, 50) },
    taxes: [
      { name, rate: 19 },
      { name, reverseCharge: name },
    ],
  });

  test("for any names, notes and descriptions", () => {
    const invoice = invoiceForUnits(1500);
    const plain = renderPage(invoice, { ...textsOf("x", "x") });
    const tags = (page: string): readonly string[] => page.slice(page.indexOf("<body>")).match(/<[a-z][^>]*>/g) ?? [];
    fc.assert(
      fc.property(nasty, nasty, (name, notes) => {
        const page = renderPage(invoice, textsOf(`x${name}`, `x${notes.replaceAll("\n", " ")}`));
        expect(tags(page)).toEqual(tags(plain));
        const body = page.slice(page.indexOf("<body>"));
        expect(findUnclosedTags(body.replace("</html>", ""))).toEqual([]);
        expect(page).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/);
      }),
      { numRuns: 200 },
    );
  });

  test("nothing is executed or fetched: the policy allows only the style, by its hash", () => {
    const page = renderPage(invoiceForUnits(1), { logo: PNG });
    const [, style = ""] = /<style>([^<]*)<\/style>/.exec(page) ?? [];
    const [, policy = ""] = /Content-Security-Policy" content="([^"]*)"/.exec(page) ?? [];
    expect(policy).toContain(`'sha256-${createHash("sha256").update(style).digest("base64")}'`);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("unsafe");
    expect(page).not.toMatch(/<script|<link|style="|\son\w+=/);
  });
});
