/** Pictures of the pages, wide and narrow, light and dark; the documents show some. `npm run pictures` updates them. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";

import { type Invoice, renderInvoice } from "../../src/index.ts";
import { readPage } from "../../src/pages/page-file.ts";
import { folder, ratebook } from "../cli/fake-io.ts";
import { openPage } from "../support/browser.ts";
import { exampleEvents, examplePath, previewExample, traceArguments } from "../support/examples.ts";
import { pageOfMany } from "./many-accounts.ts";

const PICTURES = resolve(import.meta.dirname, "../../docs/pictures");

/** A page, and what to do on it first. */
interface Pictured {
  readonly html: string;
  readonly walk?: (page: Page) => Promise<void>;
}

async function reportOfMany(): Promise<Pictured> {
  const files = folder();
  const html = await pageOfMany("report", files, 200);
  files.remove();
  return { html };
}

async function chart(): Promise<Pictured> {
  const { out: svg } = await ratebook(["chart", examplePath("cloud-storage", "book.json")]);
  return { html: `<!doctype html><html lang="en"><title>Chart</title><body style="margin:0">${svg}</body></html>` };
}

async function backtest(): Promise<Pictured> {
  const { out: html } = await ratebook([...traceArguments("backtest", "lower-fee"), "--format", "html"]);
  return {
    html,
    walk: (page) => page.getByRole("button", { name: "Why Contoso code assistant" }).click(),
  };
}

async function accountOfReport(): Promise<Pictured> {
  const { out: html } = await ratebook(traceArguments("report"));
  return {
    html,
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
    walk: (page) => page.locator("tr.total").waitFor({ state: "attached" }),
  };
}

async function invoice(): Promise<Pictured> {
  const events = exampleEvents("cloud-storage", "events.ndjson");
  const [dollars] = previewExample("cloud-storage", events, { explain: true }).invoices as [Invoice];
  const html = renderInvoice(dollars, {
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
  return { html };
}

/** Each page by its name. The documents show the wide one in light colors; of the chart, the SVG itself. */
const PAGES = [
  ["report", reportOfMany],
  ["report-account", accountOfReport],
  ["backtest", backtest],
  ["playground", playground],
  ["chart", chart],
  ["invoice", invoice],
] as const;

const VIEWPORTS = [
  { width: 1280, height: 1000 },
  { width: 390, height: 844 },
] as const;

describe.each(PAGES)("%s", (name, make) => {
  const made = make();
  test.each(
    VIEWPORTS.flatMap((viewport) => (["light", "dark"] as const).map((colorScheme) => ({ viewport, colorScheme }))),
  )("$viewport.width wide, $colorScheme", async ({ viewport, colorScheme }) => {
    const { html, walk } = await made;
    const open = await openPage(html, { viewport, colorScheme });
    await walk?.(open.page);
    const picture = await open.page.screenshot();
    await open.close();
    const isFirst = viewport.width === 1280 && colorScheme === "light" && name !== "chart";
    const file = join(PICTURES, isFirst ? `${name}.png` : `pages/${name}-${viewport.width}-${colorScheme}.png`);
    if (process.env["RATEBOOK_PICTURES"] === "take") writeFileSync(file, picture);
    expect(existsSync(file)).toBe(true);
    // Fonts differ between machines: only the approximate size of the picture is compared.
    expect(picture.length / readFileSync(file).length).toBeGreaterThan(0.5);
    expect(picture.length).toBeLessThan(250_000);
  });
});
