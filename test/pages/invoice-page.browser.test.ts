/** Invoices and charts as a browser shows them: at every width, in the dark and on paper, with nothing loaded or run. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { preview, readBook } from "../../src/index.ts";
import type { Invoice, InvoiceStatus } from "../../src/invoicing/invoice.ts";
import { invoicePage } from "../../src/pages/invoice/invoice-page.ts";
import { type Folder, folder, ratebook } from "../cli/fake-io.ts";
import { DESK, expectSound, openPage, PHONE } from "../support/browser.ts";
import { examplePath } from "../support/examples.ts";

const LETTER = {
  seller: ["Acme Ltd", "12 Harbour Road", "Springfield 12345"],
  buyer: ["Contoso", "1 Main Street", "Redmond"],
  notes: "Pay to IBAN DE89 3704 0044 0532 0130 00.\nThank you.",
  reference: "PO-4711",
};

/** An invoice of an example with seats in advance, and a long one by its many slabs. */
function invoicesOf(): readonly Invoice[] {
  const book = readBook(readFileSync(examplePath("cloud-storage", "book.json"), "utf8"));
  const events = readFileSync(examplePath("cloud-storage", "events.ndjson"), "utf8").trim().split("\n");
  return preview(
    book,
    events.map((line) => JSON.parse(line)),
    { explain: true },
  ).invoices;
}

const pageOf = (invoice: Invoice, status: InvoiceStatus): string =>
  invoicePage(
    {
      id: "inv.0123456789ABCDEF",
      invoice: { ...invoice, status },
      account: "Contoso production",
      pricePlan: "Storage",
    },
    LETTER,
  );

describe("the page of an invoice", () => {
  test.each([
    ["on a desk", DESK, "DUE"],
    ["on a phone", PHONE, "PAID"],
    ["in the dark", { ...DESK, colorScheme: "dark" as const }, "DRAFT"],
    ["on a phone in the dark", { ...PHONE, colorScheme: "dark" as const }, "DRAFT"],
  ] as const)("%s reads well, and loads and runs nothing", async (_, options, status) => {
    for (const invoice of invoicesOf()) {
      const open = await openPage(pageOf(invoice, status), options);
      const text = await open.page.locator("body").innerText();
      for (const words of ["Acme Ltd", "1 Main Street", "PO-4711", "Thank you."]) expect(text).toContain(words);
      expect(await open.page.locator(".draft").count()).toBe(status === "DRAFT" ? 1 : 0);
      expect(await open.page.locator("script, link, iframe").count()).toBe(0);
      await expectSound(open);
      await open.close();
    }
  });

  test.each([
    ["A4", { width: 794 - 114, height: 1123 - 121 }],
    ["Letter", { width: 816 - 114, height: 1056 - 121 }],
  ] as const)("on %s no row is cut, and none is wider than the sheet", async (format, viewport) => {
    const [invoice] = invoicesOf();
    if (invoice === undefined) throw new TypeError("expected an invoice");
    const open = await openPage(pageOf(invoice, "DRAFT"), { viewport });
    const { page } = open;
    await page.emulateMedia({ media: "print" });
    const wide = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    expect(wide).toBeLessThanOrEqual(0);
    const breaks = await page.evaluate(
      "[...document.querySelectorAll('tr')].map((row) => getComputedStyle(row).breakInside)",
    );
    expect(new Set(breaks as readonly string[])).toEqual(new Set(["avoid"]));
    expect(await page.evaluate("getComputedStyle(document.querySelector('.draft')).position")).toBe("fixed");
    const paper = await page.pdf({ format, preferCSSPageSize: false });
    // Four bytes say that it is one; an empty sheet is a tenth of this.
    expect(paper.subarray(0, 4).toString()).toBe("%PDF");
    expect(paper.length).toBeGreaterThan(8000);
    expect(paper.toString("latin1").match(/\/Type \/Page\b/g)).toHaveLength(1);
    await open.close();
  });
});

describe("a chart", () => {
  let files: Folder;
  let svg: string;
  beforeAll(async () => {
    files = folder();
    const file = join(files.path, "plan.svg");
    const { code } = await ratebook(["chart", examplePath("cloud-storage", "book.json"), "-o", file]);
    expect(code).toBe(0);
    svg = readFileSync(file, "utf8");
  });
  afterAll(() => files.remove());

  test.each([
    ["light", "rgb(255, 255, 255)"],
    ["dark", "rgb(18, 22, 31)"],
  ] as const)(
    "in the %s: every text stands within it, and a screen reader has its sentences",
    async (colorScheme, paper) => {
      const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>chart</title><link rel="icon" href="data:,"></head><body><main><h1>Chart</h1>${svg}</main></body></html>`;
      const open = await openPage(html, { ...DESK, colorScheme });
      const { page } = open;
      expect(await page.evaluate("getComputedStyle(document.querySelector('.paper')).fill")).toBe(paper);
      const outside = await page.evaluate(`(() => {
      const own = document.querySelector("svg").getBoundingClientRect();
      return [...document.querySelectorAll("svg text")]
        .filter((text) => { const box = text.getBoundingClientRect(); return box.left < own.left || box.right > own.right || box.bottom > own.bottom; })
        .map((text) => text.textContent);
    })()`);
      expect(outside).toEqual([]);
      expect(await page.getByRole("img", { name: /^What Storage costs/ }).count()).toBe(1);
      await expectSound(open);
      await open.close();
    },
  );
});
