/** The playground in tests: opening it, its totals, and files for it. */
import type { BrowserContextOptions, Page } from "playwright-core";

import { embedData, readPage } from "../../src/pages/page-file.ts";
import type { DatedQuantity } from "../../src/pages/play-state.ts";
import { SMALL_BOOK } from "../cli/fake-io.ts";
import { DESK, openSoundPage } from "./browser.ts";

/** The text of the small book. */
export const SMALL = JSON.stringify(SMALL_BOOK, null, 2);
/** The state in which the playground opens: the small book in June, without usage. */
export const STATE = { book: SMALL, usage: [], events: "", from: "2024-06-01", until: "2024-07-01" };
/** Typed usage of the small book. */
export const typeUnits = (quantity: string): DatedQuantity => ({ of: "um.units", date: "2024-06-20", quantity });

/** Opens the playground for the current test, which fails at its end if the page is not sound. @param state what is different from {@link STATE} */
export async function openPlayground(state: object = {}, options: BrowserContextOptions = DESK): Promise<Page> {
  const html = embedData(await readPage("play"), JSON.stringify({ state: { ...STATE, ...state } }));
  return openSoundPage(html, options);
}

/** The totals of the shown invoices. */
export async function readTotals(page: Page): Promise<readonly string[]> {
  return page.locator("section[aria-labelledby=invoices] tr.total .number").allInnerTexts();
}

/** Chooses files of events and maps. */
export async function chooseFiles(page: Page, ...paths: readonly string[]): Promise<void> {
  await page.locator("input[type=file]").setInputFiles([...paths]);
}
