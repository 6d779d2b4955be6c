/** Invoices and charts in a browser: at every width, in dark mode and on paper, without loading or running anything. */
import { describe, expect, test } from "vitest";

import type { BookInput } from "../../src/book/resources/book.ts";
import { type InvoiceDetails, parseBook, preview, renderInvoice } from "../../src/index.ts";
import type { Invoice } from "../../src/invoicing/invoice.ts";
import { ratebook } from "../cli/fake-io.ts";
import { startApi } from "../server/support.ts";
import { USAGE_BOOK } from "../server/usage-book.ts";
import { DESK, openSoundPage, PHONE } from "../support/browser.ts";
import { exampleEvents, examplePath, previewExample } from "../support/examples.ts";
import { tableBook } from "../support/table-book.ts";

const DETAILS: InvoiceDetails = {
  seller: { name: "Acme Ltd", address: ["12 Harbour Road", "Springfield 12345"], taxIds: ["VAT ID 123"] },
  buyer: { name: "Contoso", address: ["1 Main Street", "Redmond"] },
  account: "Contoso production",
  plan: "Storage",
  taxes: [{ name: "VAT", rate: "19" }],
  units: { "um.storage": "GB" },
  notes: "Pay to IBAN DE89 3704 0044 0532 0130 00.\nThank you.",
  reference: "PO-4711",
};

const { invoices } = previewExample("cloud-storage", exampleEvents("cloud-storage", "events.ndjson"), {
  explain: true,
});
const [dollars] = invoices as [Invoice, Invoice];

describe("the page of an invoice", () => {
  test.each([
    ["on a desk", DESK, "DUE"],
    ["on a phone in the dark", { ...PHONE, colorScheme: "dark" as const }, "DRAFT"],
  ] as const)("%s is accessible, and loads and runs nothing", async (_, options, status) => {
    for (const invoice of invoices) {
      const page = await openSoundPage(renderInvoice(invoice, { ...DETAILS, status }), options);
      const text = await page.locator("body").innerText();
      for (const words of ["Acme Ltd", "1 Main Street", "PO-4711", "Thank you."]) expect(text).toContain(words);
      expect(await page.locator(".badge").count()).toBe(status === "DRAFT" ? 1 : 0);
      expect(await page.locator("script, iframe, link[rel=stylesheet]").count()).toBe(0);
    }
  });

  test.each([
    ["A4", { width: 794 - 114, height: 1123 - 121 }],
    ["Letter", { width: 816 - 114, height: 1056 - 121 }],
  ] as const)("on %s no row is cut, and none is wider than the sheet", async (format, viewport) => {
    const page = await openSoundPage(renderInvoice(dollars, DETAILS), { viewport });
    await page.emulateMedia({ media: "print" });
    const wide = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    expect(wide).toBeLessThanOrEqual(0);
    const breaks = await page.evaluate(
      "[...document.querySelectorAll('tr')].map((row) => getComputedStyle(row).breakInside)",
    );
    expect(new Set(breaks as readonly string[])).toEqual(new Set(["avoid"]));
    expect(await page.evaluate("getComputedStyle(document.querySelector('.watermark')).position")).toBe("fixed");
    const paper = await page.pdf({ format, preferCSSPageSize: false });
    // The first four bytes identify a PDF; an empty sheet is a tenth of this size.
    expect(paper.subarray(0, 4).toString()).toBe("%PDF");
    expect(paper.length).toBeGreaterThan(8000);
    expect(paper.toString("latin1").match(/\/Type \/Page\b/g)).toHaveLength(1);
    await page.emulateMedia({ media: "screen" });
  });
});

/** An invoice with a price table of so many models. */
function invoiceOfModels(count: number): Invoice {
  const models = Array.from({ length: count }, (_, index) => `model ${index + 1}`);
  const rows = models.map((model) => ({ when: { model }, rate: "2.5" }));
  const book = tableBook(["model"], { per: 1_000_000, rows }, { id: "acme", from: "2026-06-01" });
  const usage = models.map((model) => {
    const cell = { accountId: "acme", meterId: "um.tokens", date: "2026-06-20" };
    return { ...cell, quantity: "1234567", group: { model } };
  });
  const [invoice] = preview(parseBook(book), { usage }, { explain: true }).invoices;
  if (invoice === undefined) throw new TypeError("expected an invoice");
  return invoice;
}

describe("a long invoice", () => {
  test.each(["A4", "Letter"] as const)("prints on several sheets of %s, each with heads", async (format) => {
    const page = await openSoundPage(renderInvoice(invoiceOfModels(120), { ...DETAILS, locale: "de" }));
    const countSheets = async (): Promise<number> => {
      const paper = await page.pdf({ format });
      return paper.toString("latin1").match(/\/Type \/Page\b/g)?.length ?? 0;
    };
    const sheets = await countSheets();
    expect(sheets).toBeGreaterThanOrEqual(3);
    expect(sheets).toBeLessThanOrEqual(6);
    await page.emulateMedia({ media: "print" });
    expect(await page.evaluate("getComputedStyle(document.querySelector('thead')).display")).toBe("table-header-group");
    const rules = await page.evaluate(
      "[...document.styleSheets[0].cssRules].filter(({ type }) => type === CSSRule.PAGE_RULE).map(({ cssText }) => cssText).join()",
    );
    expect(rules).toContain("counter(page)");
    expect(rules).toContain("Acme Ltd · Rechnung");
    await page.emulateMedia({ media: "screen" });
  });

  test("has long names and units that stay within the width of a phone and a desk", async () => {
    const word = "x".repeat(300);
    const html = renderInvoice(invoiceOfModels(3), {
      seller: { name: word, address: [word], taxIds: [word] },
      buyer: { name: word },
      number: "n".repeat(100),
      account: word,
      plan: word,
      reference: word,
      notes: word,
      units: { "um.tokens": "u".repeat(50) },
      taxes: [
        { name: word, rate: 19 },
        { name: "VAT", reverseCharge: word },
      ],
    });
    for (const options of [PHONE, DESK]) await openSoundPage(html, options);
  });
});

test.each(["en-US@posix", "de-DE", "fr-FR", "ar-EG", "ja-JP"])("an invoice in %s fits a phone", async (locale) => {
  const page = await openSoundPage(renderInvoice(dollars, { ...DETAILS, locale }), PHONE);
  expect(await page.locator("tbody tr").count()).toBeGreaterThan(10);
});

/** A blue picture of 384 by 96 pixels. */
const LOGO =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAYAAAABgCAIAAACbljLeAAABA0lEQVR42u3UMQ0AAAgEsTeCNswiDBkwNKmCGy7VA3AiEgAGBBgQgAEBBgRgQIABARgQYEAABgQYEIABAQYEYECAAQEYEGBAgAEBGBBgQAAGBBgQgAEBBgRgQIABARgQYEAABgQYEIABAQYEYECAAQEGBGBAgAEBGBBgQAAGBBgQgAEBBgRgQIABARgQYEAABgQYEGBAAAYEGBCAAQEGBGBAgAEBGBBgQAAGBBgQgAEBBgRgQIABARgQYECAAQEYEGBAAAYEGBCAAQEGBGBAgAEBGBBgQAAGBBgQgAEBBgQYEIABAQYEYECAAQEYEGBAAAYEGBCAAQEGBGBAgAEBGBDwywJa1AqN+Y9TjgAAAABJRU5ErkJggg==";

test.each([
  ["on a desk", DESK, 192],
  ["on a phone in the dark", { ...PHONE, colorScheme: "dark" as const }, 128],
] as const)(
  "%s the server's page of an invoice shows the whole logo of the setting, in proportion",
  async (_, options, width) => {
    const api = await startApi("2024-05-01T09:00:00Z");
    await api.engine.load(USAGE_BOOK as BookInput);
    api.at("2024-06-15T12:00:00Z");
    const setting = { entityType: "ORGANIZATION", entityId: "default", name: "Invoice", dataType: "STRING" };
    for (const [id, value] of [
      ["seller", "Acme Ltd\n12 Harbour Road"],
      ["logo", LOGO],
    ])
      await api.call("POST /settings", { body: { ...setting, id, value, namespace: "invoice" } });
    const event = { schemaName: "api calls", id: "e1", accountId: "acme", timestamp: "2024-06-10T08:00:00Z" };
    const eventWithUnits = { ...event, attributes: [{ name: "n", value: 7 }], dimensions: { region: "eu" } };
    await api.call("POST /ingest", { body: { event: eventWithUnits } });
    const [{ id }] = (await api.call("GET /invoices")).json.data;
    const { text, headers } = await api.call(`GET /invoices/${encodeURIComponent(id)}?format=html`);
    expect(headers["content-security-policy"]).toContain("img-src data:");
    const logo = (await openSoundPage(text, options)).getByRole("img", { name: "Acme Ltd" });
    expect(await logo.boundingBox()).toMatchObject({ width, height: width / 4 });
    expect(await logo.evaluate("document.querySelector('.logo').naturalWidth")).toBe(384);
  },
);

test.each([
  ["light", "rgb(255, 255, 255)"],
  ["dark", "rgb(28, 28, 26)"],
] as const)(
  "a chart in %s colors: every text is within it, and a screen reader has its sentences",
  async (colorScheme, paper) => {
    const { out: svg } = await ratebook(["chart", examplePath("cloud-storage", "book.json")]);
    const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>chart</title><link rel="icon" href="data:,"></head><body><main><h1>Chart</h1>${svg}</main></body></html>`;
    const page = await openSoundPage(html, { ...DESK, colorScheme });
    expect(await page.evaluate("getComputedStyle(document.querySelector('.paper')).fill")).toBe(paper);
    const outside = await page.evaluate(`(() => {
    const own = document.querySelector("svg").getBoundingClientRect();
    return [...document.querySelectorAll("svg text")]
      .filter((text) => { const box = text.getBoundingClientRect(); return box.left < own.left || box.right > own.right || box.bottom > own.bottom; })
      .map((text) => text.textContent);
  })()`);
    expect(outside).toEqual([]);
    expect(await page.getByRole("img", { name: /^What Storage costs/ }).count()).toBe(1);
  },
);
