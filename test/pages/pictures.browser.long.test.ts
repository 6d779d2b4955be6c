/** The documentation's pictures of pages; `npm run pictures` updates them. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { preview, readBook, renderInvoice } from "../../src/index.ts";
import { readPage } from "../../src/pages/page-file.ts";
import { folder, ratebook } from "../cli/fake-io.ts";
import { openPage } from "../support/browser.ts";
import { examplePath, TRACE_ARGUMENTS } from "../support/examples.ts";
import { bookOfMany, planAt, usageOfMany } from "./many-accounts.ts";

const PICTURES = resolve(import.meta.dirname, "../../docs/pictures");

/** A page, the size of its picture, and what to do on it first. */
interface Pictured {
  readonly html: string;
  readonly width?: number;
  readonly height?: number;
  readonly walk?: (page: Page) => Promise<void>;
}

async function reportWithDraft(): Promise<Pictured> {
  const files = folder();
  const { out: html } = await ratebook([
    "report",
    files.file("book.json", JSON.stringify(bookOfMany(200))),
    "--usage",
    files.file("usage.csv", usageOfMany(200)),
    "--plan",
    files.file("draft.json", JSON.stringify(planAt("pp.two", "0.8"))),
  ]);
  files.remove();
  return { html, height: 1000 };
}

async function backtest(): Promise<Pictured> {
  const { out: html } = await ratebook([
    "backtest",
    examplePath("llm-api", "book.json"),
    ...TRACE_ARGUMENTS,
    "--plan",
    examplePath("llm-api", "drafts/lower-fee.json"),
    "--format",
    "html",
  ]);
  return {
    html,
    height: 1130,
    walk: (page) => page.getByRole("button", { name: "Why Contoso code assistant" }).click(),
  };
}

async function accountOfReport(): Promise<Pictured> {
  const { out: html } = await ratebook(["report", examplePath("llm-api", "book.json"), ...TRACE_ARGUMENTS]);
  return {
    html,
    height: 900,
    walk: async (page) => {
      await page.getByRole("link", { name: "Contoso code assistant" }).click();
      await page.getByRole("button", { name: "49.34" }).click();
      await page.getByText("8,819 events").click();
      await page.evaluate("document.querySelectorAll('.invoice')[1].scrollIntoView()");
    },
  };
}

async function playground(): Promise<Pictured> {
  return {
    html: await readPage("play"),
    width: 1280,
    height: 1000,
    walk: (page) => page.locator("tr.total").waitFor(),
  };
}

async function invoice(): Promise<Pictured> {
  const file = (name: string): string => readFileSync(examplePath("cloud-storage", name), "utf8");
  const events = file("events.ndjson").trim().split("\n");
  const { invoices } = preview(
    readBook(file("book.json")),
    events.map((line) => JSON.parse(line)),
    { explain: true },
  );
  const first = invoices.find(({ currency }) => currency === "USD");
  if (first === undefined) throw new TypeError("expected an invoice");
  const html = renderInvoice(first, {
    id: "inv.0123456789ABCDEF",
    seller: {
      name: "Acme Storage Ltd",
      address: ["12 Harbour Road", "Springfield 12345"],
      taxIds: ["VAT ID GB 123 4567 89"],
    },
    buyer: { name: "Kestrel Maps Inc.", address: ["1 Main Street", "Redmond, WA 98052"] },
    account: "Kestrel Maps US",
    plan: "Storage",
    reference: "PO-4711",
    status: "DUE",
    dueDate: "2024-07-15",
    units: { "um.storage": "GB", "um.egress": "GB" },
    taxes: [{ name: "VAT", rate: "19" }],
    notes: "Please pay to DE89 3704 0044 0532 0130 00.",
  });
  return { html, width: 900, height: 1170 };
}

test.each([
  ["report", reportWithDraft],
  ["report-account", accountOfReport],
  ["backtest", backtest],
  ["playground", playground],
  ["invoice", invoice],
])("%s", async (name, make) => {
  const { html, width = 1000, height = 780, walk } = await make();
  const open = await openPage(html, { viewport: { width, height } });
  await walk?.(open.page);
  const picture = await open.page.screenshot();
  await open.close();
  const file = join(PICTURES, `${name}.png`);
  if (process.env["RATEBOOK_PICTURES"] === "take") writeFileSync(file, picture);
  expect(existsSync(file)).toBe(true);
  // Fonts differ between machines: only the approximate size of the picture is compared.
  expect(picture.length / readFileSync(file).length).toBeGreaterThan(0.5);
  expect(picture.length).toBeLessThan(200_000);
});
