/** Pages never stay blank, whatever the reader's locale and even if a script fails. */
import { readFileSync } from "node:fs";

import { afterAll, beforeAll, expect, test } from "vitest";

import { pageFile, embedData } from "../../src/pages/page-file.ts";
import { type Folder, folder, ratebook } from "../cli/fake-io.ts";
import { DESK, openPage, openSoundPage } from "../support/browser.ts";
import { traceArguments } from "../support/examples.ts";
import { pageOfMany } from "./many-accounts.ts";

let files: Folder;
let pages: readonly string[];
beforeAll(async () => {
  files = folder();
  const manyAccounts = await pageOfMany("report", files, 3, { rate: 2 });
  const backtest = await ratebook([...traceArguments("backtest", "lower-fee"), "--format", "html"]);
  pages = [readFileSync(pageFile("play"), "utf8"), manyAccounts, backtest.out];
});
afterAll(() => files.remove());

const LOCALES = ["en-US@posix", "de-DE", "fr-FR", "ar-EG", "ja-JP"];

test.each(LOCALES)("in %s the playground, the report and the page of a backtest show their content", async (locale) => {
  for (const html of pages) {
    const page = await openSoundPage(html, { ...DESK, locale });
    await expect.poll(() => page.getByRole("heading", { level: 1 }).count()).toBeGreaterThan(0);
    expect(await page.evaluate("navigator.language")).toBe(locale);
  }
});

test("a page whose script fails says why", async () => {
  const open = await openPage(embedData(readFileSync(pageFile("report"), "utf8"), "null"));
  expect(await open.page.getByRole("alert").innerText()).toMatch(
    /^This page has an error and may be incomplete: TypeError/,
  );
  await open.close();
});
