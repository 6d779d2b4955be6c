/** Opens pages from disk in Chromium, and records whatever a page should not do: requests, messages, errors. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import axe, { type AxeResults } from "axe-core";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, expect, inject, onTestFinished } from "vitest";

/** An open page, with a record of what it should not do. */
export interface OpenPage {
  readonly page: Page;
  /** Console messages, errors, policy violations, and requests other than the page itself. */
  readonly faults: readonly string[];
  readonly close: () => Promise<void>;
}

/** The window sizes for tests of pages. */
export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true } satisfies BrowserContextOptions;
export const DESK = { viewport: { width: 1280, height: 900 } } satisfies BrowserContextOptions;
/** Rows of tests on both, in light and dark colors. */
export const DESK_AND_PHONE: readonly (readonly [name: string, options: BrowserContextOptions])[] = [
  ["on a desk", DESK],
  ["on a phone in the dark", { ...PHONE, colorScheme: "dark" }],
];

let browserPromise: Promise<Browser> | undefined;
afterAll(async () => {
  const browser = await browserPromise;
  browserPromise = undefined;
  await browser?.close();
});

/** Opens a page from a separate file. */
export async function openPage(html: string, options: BrowserContextOptions = DESK): Promise<OpenPage> {
  const folder = mkdtempSync(join(tmpdir(), "ratebook-page-"));
  const file = join(folder, "page.html");
  writeFileSync(file, html);
  browserPromise ??= chromium.connect(inject("browser"));
  const browser = await browserPromise;
  const context = await browser.newContext({ locale: "en-US", colorScheme: "light", ...options });
  context.on("close", () => rmSync(folder, { recursive: true, force: true }));
  // The same timeout as that of `expect.poll`.
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const faults: string[] = [];
  const url = pathToFileURL(file).href;
  page.on("console", (message) => faults.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const address = request.url();
    if (address.split("#")[0] !== url && !/^(?:data|blob):/.test(address)) faults.push(`request: ${address}`);
  });
  await page.goto(url);
  return { page, faults, close: async () => context.close() };
}

/** The violations found by axe on the current page, as sentences. */
export async function findAccessibilityFaults(page: Page): Promise<readonly string[]> {
  // The page's policy blocks injected scripts, so this one is run by the browser's debugger.
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate("axe.run()")) as AxeResults;
  return violations.map(({ id, help, nodes }) =>
    `${id}: ${help}: ${nodes.map(({ html }) => html).join(" ")}`.slice(0, 500),
  );
}

/** Expects that a page did nothing that it should not, is accessible, and fits its width. */
export async function expectSound({ page, faults }: OpenPage): Promise<void> {
  expect(await findAccessibilityFaults(page)).toEqual([]);
  expect(faults).toEqual([]);
  const overflow = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  expect(overflow).toBeLessThanOrEqual(0);
}

/** Opens a page for the current test, which fails at its end if the page is not sound. */
export async function openSoundPage(html: string, options?: BrowserContextOptions): Promise<Page> {
  const open = await openPage(html, options);
  onTestFinished(async () => {
    await expectSound(open);
    await open.close();
  });
  return open.page;
}
